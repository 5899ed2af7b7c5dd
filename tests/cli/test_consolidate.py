"""``hindsight-mem consolidate``."""

from __future__ import annotations

import json

import pytest

from hindsight_core.testing.models import ModelServer

FIRST = "The user prefers tabs in Python files."
SECOND = "In Python files the user prefers tabs of width four."
BOTH = "The user prefers tabs of width four in Python files."


@pytest.fixture
def filled(mem, tmp_path, monkeypatch):
    monkeypatch.setenv("HINDSIGHT_MEM_LIFECYCLE__ENABLED", "true")
    file = tmp_path / "facts.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in (FIRST, SECOND)))
    assert mem("bank", "import", file).code == 0
    return mem


@pytest.fixture
def model(loopback, monkeypatch):
    script = {
        "capture/consolidate": json.dumps({"merge": True, "text": BOTH, "reason": "the same wish"}),
        "capture/consolidate_validation": {"accept": True, "reason": "nothing is lost"},
    }
    with ModelServer(script) as server:
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__PROVIDER", "openai")
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__BASE_URL", server.url)
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__MODEL", "scripted")
        yield server


def texts(mem) -> list[str]:
    return [row["text"] for row in mem("facts", "list", "--json").data["facts"]]


def test_a_dry_run_shows_the_pairs_and_changes_nothing(filled, model):
    [pair] = filled("consolidate", "--dry-run", "--json").data["pairs"]
    assert (pair["text"], pair["enabled"], pair["decision"]) == (BOTH, True, "left")
    assert sorted(memory["text"] for memory in pair["memories"]) == sorted([FIRST, SECOND])
    assert sorted(texts(filled)) == sorted([FIRST, SECOND])


@pytest.mark.spec("am/A-COMP-3", "am/A-COMP-4")
def test_yes_combines_what_may_stand_and_restore_takes_it_back(filled, model):
    [pair] = filled("consolidate", "--yes", "--json").data["pairs"]
    assert pair["decision"] == "combined"
    assert texts(filled) == [BOTH]
    [shown] = filled("facts", "show", pair["id"], "--json").data["facts"]
    assert sorted(shown["said_before"]) == sorted([FIRST, SECOND])
    old = pair["memories"][0]["id"]
    assert filled("facts", "restore", old).code == 0
    assert len(texts(filled)) == 2


def test_a_sentence_that_is_refused_is_told_and_changes_nothing(filled, model):
    refused = {"accept": False, "reason": "the width is lost"}
    model.replies.set("capture/consolidate_validation", refused)
    [pair] = filled("consolidate", "--yes", "--json").data["pairs"]
    assert (pair["decision"], "the width is lost" in pair["reason"]) == ("refused", True)
    assert len(texts(filled)) == 2


def test_without_a_terminal_somebody_has_to_say_so(filled):
    said = filled("consolidate")
    assert (said.code, "--dry-run or --yes" in said.err) == (2, True)


def test_without_a_model_nothing_is_combined_by_itself(filled):
    [pair] = filled("consolidate", "--yes", "--json").data["pairs"]
    assert (pair["decision"], "write the sentence" in pair["reason"]) == ("skipped", True)
