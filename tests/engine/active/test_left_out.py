"""Active memory heeds what a person leaves out of memory."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_core.engine import explicit
from hindsight_core.testing.session import live_session
from hindsight_core.testing.transcripts import TranscriptBuilder


class Session:
    """A session of pi with the profile, a file of its own, and a model that always finds."""

    def __init__(self, new_memory: Any, folder: Any) -> None:
        memory = {"text": "The word is heron.", "kind": "fact", "scope": "project"}
        memory |= {"confidence": 0.9, "evidence": "the word is heron"}
        replies = {
            "capture/extraction": {"memories": [memory]},
            "capture/validation": {"accept": True, "reason": "said"},
            "capture/merge": {"action": "add"},
            "steer/query": {"query": "heron"},
            "steer/judge": {"relevant_ids": [], "reason": "none"},
            "*": "NONE",
        }
        self.memory = new_memory(settings={"profile": "active-memory"}, replies=replies)
        self.folder = folder
        self.live = live_session(
            self.memory.runtime, session_id="s1", file=str(folder / "session.jsonl")
        )
        self.talk = TranscriptBuilder()
        self.run = self.memory.run
        self.run(self.live.started("startup", {"entries": []}))

    def say(self, user: str) -> None:
        run, live, talk = self.run, self.live, self.talk
        run(live.turn_start("t", user, {"entries": talk.wire()}, limit_s=5))
        talk.user(user)
        talk.assistant(f"about: {user}")
        run(live.turn_end({"entries": talk.wire()}))

    def tool(self, name: str, **arguments: object) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments}
        return self.run(explicit.tool(self.live, params, why_off=""))

    def holding(self, words: str) -> list[str]:
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return [path.name for path in files if words.encode() in path.read_bytes()]


@pytest.fixture
def session(new_memory: Any, tmp_path: Any) -> Session:
    return Session(new_memory, tmp_path)


@pytest.mark.parametrize("how", ["a mark", "/hindsight:next-opt-out", "/hindsight:mode read-only"])
def test_of_a_turn_that_is_left_out_nothing_is_captured_or_logged(
    session: Session, how: str
) -> None:
    said = "The word is heron, remember it."
    if how.startswith("/"):
        name, _, argument = how.lstrip("/").partition(" ")
        session.run(session.live.commands.run(name, argument))
    else:
        said += " #nomem"
    session.say(said)
    session.run(session.live.end("quit", timeout_s=10))
    assert session.holding("heron") == []


def test_another_turn_is_captured_and_logged(session: Session) -> None:
    session.say("The word is heron, remember it.")
    session.run(session.live.end("quit", timeout_s=10))
    assert session.holding("heron")


@pytest.mark.parametrize(
    ("mode", "reads", "writes"), [("read-only", True, False), ("ignored", False, False)]
)
def test_its_tools_refuse_what_the_mode_forbids(
    session: Session, mode: str, reads: bool, writes: bool
) -> None:
    session.run(session.live.commands.run("hindsight:mode", mode))
    found = session.tool("memory_search", query="heron")
    kept = session.tool("memory_store_result", text="The port is 8443.", evidence="seen")
    fixed = session.tool("memory_correct", query="heron", reason="wrong", text="The word is otter.")
    assert ("refuses" in found["content"]) is not reads
    assert ("refuses" in kept["content"]) is not writes
    assert ("refuses" in fixed["content"]) is not writes
