"""Tags, metadata and observation scopes of what is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight_core.config.profiles import PROFILES
from hindsight_core.config.settings import Settings
from hindsight_core.memorize.labels import Labels, problems, session_key


def labels(*, root: str = "/home/me/shop", project_id: str = "shop", **sections: dict) -> Labels:
    return Labels(
        Settings.model_validate(sections),
        project="shop",
        project_id=project_id,
        root=root,
        cwd=root and f"{root}/api",
        bank="shop-bank",
    )


WHERE = {"bank": "other-bank", "session_id": "s1", "host": "pi"}


@pytest.mark.spec("s1/S-ID-6")
def test_a_shared_bank_is_told_what_belongs_to_whom():
    made = labels(scope={"mode": "domain-tagged"}, retain={"tags": ["team"]})
    tags = made.base_tags(session_id="s1", host="pi", of_session=("urgent",))

    assert tags[:3] == ("source:pi", "harness:pi", "project:shop")
    assert tags[3].startswith("repo:shop-")
    assert len(tags[3].removeprefix("repo:shop-")) == 12
    assert tags[4:] == (f"session:{session_key('s1')}", "team", "urgent")


@pytest.mark.spec("oc/O-CA-2")
def test_in_a_shared_bank_nobody_else_says_where_a_memory_is_from():
    made = labels(scope={"mode": "domain-tagged"}, retain={"tags": ["source:me", "harness:me"]})
    tags = made.base_tags(session_id=None, host="pi")
    assert {"source:pi", "harness:pi"} <= set(tags)
    assert not {"source:me", "harness:me"} & set(tags)


def test_a_bank_of_its_own_needs_no_such_tags():
    assert labels(retain={"tags": ["team"]}).base_tags(session_id="s1", host="pi") == ("team",)


@pytest.mark.spec("oc/O-CA-2")
def test_placeholders_are_filled_and_what_is_empty_is_dropped():
    made = labels(
        retain={
            "tags": ["p:{gitProject}", "h:{harness}", "u:{projectId}", "x:{nothing}"],
            "metadata": {"project": "{project}", "who": "{projectId}", "fixed": "yes"},
        },
        project_id="",
    )
    assert made.base_tags(session_id="s1", host="pi") == ("p:shop", "h:pi")
    assert made.metadata(**WHERE) == {"project": "shop", "fixed": "yes"}


@pytest.mark.spec("s1/S-RET-8")
def test_observation_scopes_are_filled_for_the_bank_that_is_written():
    made = labels(
        retain={
            "observation_scopes": [
                ["repo:{repoKey}"],
                ["session:{sessionId}", "dir:{cwdHash}"],
                ["bank:{bankId}"],
                ["project:{projectBankId}"],
                ["project:{projectId}"],
                ["repo:{repoKey}"],
            ]
        }
    )
    scopes = made.observation_scopes(**WHERE)
    assert scopes[0][0].startswith("repo:shop-")
    assert scopes[1][0] == f"session:{session_key('s1')}"
    assert len(scopes[1][1].removeprefix("dir:")) == 12
    assert scopes[2:] == (("bank:other-bank",), ("project:shop-bank",), ("project:shop",))


@pytest.mark.spec("s1/S-RET-8")
def test_scopes_that_cannot_be_filled_are_left_out_and_told():
    retain = {"observation_scopes": [["a:{nothing}"], [], ["  "], ["b:{repoKey}"], ["c"]]}
    made = labels(retain=retain, root="")
    assert made.observation_scopes(**WHERE) == (("c",),)

    told = problems(made.settings, made.values(**WHERE))
    assert len(told) == 4
    assert "{nothing} is not known" in told[0]
    assert "empty" in told[1]
    assert "blank" in told[2]
    assert "{repoKey} has no value here" in told[3]


@pytest.mark.spec("s1/S-ID-6", "s1/S-RET-8")
async def test_a_session_of_the_s1_profile_is_labelled(kit, tmp_path: Path):
    from hindsight_core.banks.base import Capabilities
    from hindsight_core.testing.memory_bank import FakeBank
    from hindsight_core.testing.transcripts import TranscriptBuilder

    bank = FakeBank("shop-bank", capabilities=Capabilities(extracts=True))
    profile = PROFILES["s1enhanced"]
    sections = {name: profile[name] for name in ("scope", "memorize", "retain")}
    made = kit(bank=bank, labels=labels(**sections), **sections)
    talk = TranscriptBuilder("s1", host="pi")
    talk.user("which port?")
    talk.assistant("8443")
    await made.remember(talk)

    (document,) = bank.documents.values()
    assert {"harness:pi", "project:shop", f"session:{session_key('s1')}"} <= set(document.tags)
    assert document.observation_scopes[0] == ("harness:pi",)
    assert document.observation_scopes[1][0].startswith("repo:shop-")
