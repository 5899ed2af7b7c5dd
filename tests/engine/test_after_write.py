"""``retain.post_reflect``: best effort, and never a failed write."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hindsight_core import hookimpl
from hindsight_core.banks.base import Capabilities, Reflection
from hindsight_core.errors import BankError
from hindsight_core.testing.memory_bank import FakeBank
from hindsight_core.testing.session import live_session
from hindsight_core.testing.transcripts import TranscriptBuilder

SETTINGS = {
    "bank": {"id": "shop", "backend": "thinking"},
    "memorize": {"mode": ["transcript"], "every_turns": 1},
    "log": {"include_text": True},
}


class Thinking(FakeBank):
    """Reflects by itself; `failing_thoughts` is raised instead."""

    failing_thoughts: Exception | None = None
    hangs = False

    def __init__(self, *, reflects: bool = True) -> None:
        super().__init__("shop", capabilities=Capabilities(extracts=True, reflects=reflects))
        self.asked: list[str] = []

    async def reflect(self, query: Any) -> Reflection:
        self.asked.append(query.text)
        if self.hangs:
            await asyncio.Event().wait()
        if self.failing_thoughts is not None:
            raise self.failing_thoughts
        return Reflection("The port has changed.", ("shop:f1",))


class Session:
    def __init__(self, new_memory: Any, bank: Thinking, **retain: Any) -> None:
        class Plugin:
            @hookimpl
            def hindsight_register_banks(self, register: Any) -> None:
                register("thinking", lambda settings, services: bank)

        self.memory = new_memory(Plugin(), settings={**SETTINGS, "retain": retain})
        self.notices: list[str] = []
        self.live = live_session(
            self.memory.runtime, session_id="s1", tell=lambda _, text: self.notices.append(text)
        )
        self.talk = TranscriptBuilder()

    def turn(self, text: str) -> None:
        self.talk.user(text)
        self.talk.assistant("ok")
        self.memory.run(self._turn())

    async def _turn(self) -> None:
        await self.live.turn_end({"entries": self.talk.wire()})
        for _ in range(200):
            await asyncio.sleep(0.005)
            busy = (*self.live.work._scheduled, *self.live.work.reflecting._tasks.values())
            if all(task.done() for task in busy):
                return

    @property
    def logged(self) -> list[dict[str, Any]]:
        return [e for e in self.memory.runtime.log.read(50) if e["type"] == "reflect"]


@pytest.mark.spec("s1/S-RET-7")
def test_a_server_is_asked_after_a_write_and_what_it_says_is_in_the_log(new_memory: Any) -> None:
    bank = Thinking()
    session = Session(new_memory, bank, post_reflect=True)
    session.turn("The port is 8443.")

    assert len(bank.asked) == 1 and "project" in bank.asked[0]
    [entry] = session.logged
    assert (entry["outcome"], entry["bank"], entry["answer"]) == (
        "ok",
        "shop",
        "The port has changed.",
    )


@pytest.mark.spec("s1/S-RET-7")
def test_that_it_failed_is_no_failed_write(new_memory: Any) -> None:
    bank = Thinking()
    bank.failing_thoughts = BankError("the model is away")
    session = Session(new_memory, bank, post_reflect=True)
    session.turn("The port is 8443.")

    [entry] = session.logged
    retained = [e for e in session.memory.runtime.log.read(50) if e["type"] == "retain"]
    assert entry["outcome"] == "failed" and "away" in entry["reason"]
    assert [e["outcome"] for e in retained] == ["stored"]
    assert len(bank.documents) == 1
    assert not any("away" in notice for notice in session.notices)
    assert session.memory.run(session.live.work.finish(timeout_s=5)) == 0


@pytest.mark.spec("s1/S-RET-7")
def test_one_at_a_time_and_no_end_waits_for_it(new_memory: Any) -> None:
    bank = Thinking()
    bank.hangs = True
    session = Session(new_memory, bank, post_reflect=True)
    session.turn("The port is 8443.")
    session.turn("The queue is RabbitMQ.")
    assert len(bank.asked) == 1
    assert len(bank.documents) == 2
    assert session.memory.run(session.live.work.finish(timeout_s=30)) == 0
    assert session.logged == []


@pytest.mark.parametrize(("wanted", "reflects"), [(False, True), (True, False)])
def test_nobody_is_asked_otherwise(new_memory: Any, wanted: bool, reflects: bool) -> None:
    bank = Thinking(reflects=reflects)
    session = Session(new_memory, bank, post_reflect=wanted)
    session.turn("The port is 8443.")
    assert bank.asked == [] and session.logged == []
