"""The activity log of one session."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.engine.activity import SessionActivity, activity_path
from hindsight_core.testing.session import live_session
from hindsight_core.testing.transcripts import TranscriptBuilder

PNPM = "This project uses pnpm and never npm."
QUERY = "packages with pnpm or npm"
WHY = "it decides which command is run"


class Logged:
    """A steered session with a file of the host's."""

    def __init__(self, memory: Any, file: Path | None) -> None:
        self.memory = memory
        memory.remember(PNPM)
        (self.id,) = [fact.id for fact in memory.facts()]
        memory.model.replies.set("steer/judge", {"relevant_ids": [self.id], "reason": WHY})
        self.live = live_session(memory.runtime, session_id="s1")
        info = replace(self.live.opening.session, file=None if file is None else str(file))
        self.live.activity = SessionActivity.of(
            memory.runtime, replace(self.live.opening, session=info)
        )
        self.file = None if file is None else activity_path(file)
        memory.run(self._through())

    async def _through(self) -> None:
        live, talk = self.live, TranscriptBuilder()
        await live.started("startup", {"entries": []})
        await live.turn_start("t1", "install the packages", {"entries": []}, limit_s=5)
        talk.user("install the packages")
        talk.assistant("done")
        await live.steers.progress({"entries": talk.wire()})
        await live.tools.call("memory_feedback", self._rating())
        await live.end("quit", timeout_s=5)

    def _rating(self) -> dict[str, str]:
        token = self.live.steers.delivered[-1].token
        return {"steerToken": token, "memoryId": self.id, "outcome": "useful", "reason": WHY}

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file.read_text().splitlines()]


@pytest.fixture
def logged(new_memory, tmp_path):
    def make(log: dict | None = None, *, file: bool = True) -> Logged:
        settings = {
            "profile": "active-memory",
            "capture": {"enabled": False},
            "investigation": {"enabled": False},
            "log": log or {},
        }
        replies = {"steer/query": {"query": QUERY}, "*": "NONE"}
        memory = new_memory(settings=settings, replies=replies)
        return Logged(memory, tmp_path / "2026_abc.jsonl" if file else None)

    return make


@pytest.mark.spec("am/A-LOG")
def test_it_stands_beside_the_session_file():
    assert activity_path(Path("/d/2026_abc.jsonl")) == Path("/d/2026_abc.active-memory.jsonl")
    assert activity_path(Path("/d/session")) == Path("/d/session.active-memory.jsonl")


@pytest.mark.spec("am/A-LOG")
def test_what_happens_is_there_in_its_order(logged):
    opened = logged()
    kinds = [row["type"] for row in opened.rows]
    wanted = [
        "session.started",
        "recall.started",
        "recall.query",
        "recall.matches",
        "recall.judged",
        "steer.queued",
        "feedback.recorded",
        "session.shutdown",
    ]
    assert [kind for kind in kinds if kind in wanted] == wanted
    assert "memory.reinforced" in kinds
    assert {row["sessionId"] for row in opened.rows} == {"s1"}
    (project,) = {row["projectId"] for row in opened.rows}
    assert len(project) == 20
    assert all(
        set(row) == {"timestamp", "sessionId", "projectId", "type", "data"} for row in opened.rows
    )
    assert opened.file.stat().st_mode & 0o777 == 0o600


@pytest.mark.spec("am/A-LOG")
def test_with_text_and_without(logged):
    whole = logged().file.read_text()
    assert QUERY in whole
    assert WHY in whole


@pytest.mark.spec("am/A-LOG")
def test_without_text_ids_and_numbers_stay_and_words_do_not(logged):
    opened = logged({"include_text": False})
    whole = opened.file.read_text()
    assert QUERY not in whole
    assert WHY not in whole
    assert PNPM not in whole
    rows = {row["type"]: row["data"] for row in opened.rows}
    assert rows["steer.queued"]["ids"] == [f"{opened.memory.runtime.bank_id}:{opened.id}"]
    assert rows["feedback.recorded"]["outcome"] == "useful"
    assert rows["feedback.recorded"]["confidence"] == pytest.approx(0.6)
    assert rows["recall.matches"]["matches"][0]["rank"] > 0


@pytest.mark.spec("am/A-LOG")
@pytest.mark.parametrize(
    "log", [{"per_session": False}, {"activity": False}], ids=["off", "no log at all"]
)
def test_where_it_is_off_there_is_no_file(logged, log):
    assert not logged(log).file.exists()


@pytest.mark.spec("am/A-LOG")
def test_a_session_that_the_host_does_not_keep_has_none(logged, tmp_path):
    logged(file=False)
    assert not list(tmp_path.glob("*.active-memory.jsonl"))


def test_a_place_that_cannot_be_written_costs_nothing(new_memory, tmp_path):
    memory = new_memory(
        settings={"profile": "active-memory"}, replies={"steer/query": {"query": ""}, "*": "NONE"}
    )
    live = live_session(memory.runtime)
    info = replace(live.opening.session, file=str(tmp_path / "gone" / "s.jsonl"))
    activity = SessionActivity.of(memory.runtime, replace(live.opening, session=info))
    activity.take("recall.started", {})
    activity.take("recall.started", {})
    assert not (tmp_path / "gone").exists()
