"""Tags and metadata with placeholders."""

from __future__ import annotations

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.memorize.labels import Labels, problems


def labels(mode: str = "isolated-bank", project: str = "shop", **retain: object) -> Labels:
    settings = Settings.model_validate({"scope": {"mode": mode}, "retain": retain})
    return Labels(settings, project=project, bank="b")


@pytest.mark.spec("oc/O-CA-2")
def test_placeholders_are_filled_and_a_tag_without_a_value_is_left_out() -> None:
    tags = ["of:{gitProject}", "by:{harness}", "in:{bankId}", "at:{sessionId}", "x:{nothing}"]

    given = labels(tags=tags).base_tags(session_id="s-1", host="opencode")
    homeless = labels(project="", tags=tags).base_tags(session_id=None, host=None)

    assert given[:3] == ("of:shop", "by:opencode", "in:b")
    assert given[3].startswith("at:") and len(given) == 4
    assert homeless == ("in:b",)


@pytest.mark.spec("oc/O-CA-2")
def test_the_marks_of_a_shared_bank_are_reserved_there_and_nowhere_else() -> None:
    own = labels(tags=["source:opencode"])
    shared = labels("domain-tagged", tags=["source:mine", "team:a"])

    assert own.base_tags(session_id=None, host="pi") == ("source:opencode",)
    assert problems(own.settings, {}) == []
    assert "source:mine" not in shared.base_tags(session_id=None, host="pi")
    assert "source:pi" in shared.base_tags(session_id=None, host="pi")
    assert "reserved" in problems(shared.settings, {})[0]


@pytest.mark.spec("oc/O-CA-2")
def test_metadata_is_filled_too() -> None:
    made = labels(metadata={"repo": "{project}", "who": "{sessionId}"})

    assert made.metadata(bank="b", session_id=None, host=None) == {"repo": "shop"}
