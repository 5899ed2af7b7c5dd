"""Steers of a session, as an engine meets them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hindsight_core.errors import ProviderError
from hindsight_core.hookspecs import hookimpl
from hindsight_core.host import HostCapabilities
from hindsight_core.memory import Fact, Provenance, Query
from hindsight_core.testing.clock import FakeClock
from hindsight_core.testing.session import live_session
from hindsight_core.testing.transcripts import TranscriptBuilder
from hindsight_core.turns import Plan, Turn

PNPM = "This project uses pnpm and never npm."
PORT = "The API gateway listens on port 8443 behind nginx."
STEER = {
    "enabled": True,
    "minimum_memory_age_minutes": 0,
    "cooldown_ms": 0,
    "per_memory_cooldown_ms": 0,
    "per_memory_turn_cooldown": 0,
}


class Loop:
    """A session whose agent is at work."""

    def __init__(self, memory: Any, *, capabilities: dict | None = None, **more: Any) -> None:
        self.memory = memory
        self.notices: list[str] = []
        self.sent: list[tuple[str, Any]] = []
        self.talk = TranscriptBuilder()
        self.open(capabilities or {}, **more)

    def open(self, capabilities: dict | None = None, **more: Any) -> None:
        declared = {"blocks": "replay", **(capabilities or {})}
        self.live = live_session(
            self.memory.runtime, session_id="s1", capabilities=HostCapabilities(**declared),
            tell=lambda _, text: self.notices.append(text), **more,
        )  # fmt: skip
        self.live.steers.listen(lambda name, params: self.sent.append((name, params)))
        self.run(self.live.started("startup", {"entries": self.talk.wire()}))

    def run(self, work: Any) -> Any:
        return self.memory.run(work)

    def now(self, act: Callable[[], None]) -> None:
        """Something that the engine calls in its own loop."""

        async def do() -> None:
            act()

        self.run(do())

    def ask(self, prompt: str) -> Any:
        params = {"entries": self.talk.wire()}
        outcome = self.run(self.live.turn_start("t1", prompt, params, limit_s=5))
        self.talk.user(prompt)
        return outcome

    def step(self, said: str = "I go on.", results: int = 1) -> None:
        calls = [self.talk.call("bash", command="ls") for _ in range(results)]
        self.talk.assistant(said, calls=calls)
        for number in range(results):
            self.talk.result(f"output {number}")

    async def _progress(self, more: dict) -> list[str]:
        await self.live.steers.progress({"turnId": "t1", "entries": self.talk.wire(), **more})
        return [block.text for block in self.live.steers.take()]

    def progress(self, **more: Any) -> list[str]:
        return self.run(self._progress(more))

    def end(self) -> None:
        self.run(self.live.end("quit", timeout_s=5))

    def prompts(self, stage: str) -> list[str]:
        return [request.messages[0].content for request in self.memory.model.asked(stage)]

    def asked(self, stage: str) -> int:
        return len(self.prompts(stage))

    def choose(self, *texts: str) -> None:
        ids = [fact.id for fact in self.memory.facts() if fact.text in texts]
        self.memory.model.replies.set("steer/judge", {"relevant_ids": ids, "reason": "it helps"})


class Gate:
    """A plugin whose plans wait until they are let go.

    Attributes:
        asked: What each was made for.
        most: How many waited at once.
    """

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.asked: list[str] = []
        self.most = self._now = 0

    @hookimpl
    async def hindsight_plan_recall(self, turn: Turn) -> Plan:
        self.asked.append(turn.context)
        self._now += 1
        self.most = max(self.most, self._now)
        await self.open.wait()
        self._now -= 1
        return Plan(queries=(Query("gateway port"),))


@pytest.fixture
def loop(new_memory):
    def make(steer: dict | None = None, *plugins: object, clock: Any = None, **more: Any) -> Loop:
        memory = new_memory(
            *plugins,
            settings={
                "profile": "active-memory",
                "steer": {**STEER, **(steer or {})},
                "capture": {"enabled": False},
                "investigation": {"enabled": False},
            },
            replies={"steer/query": {"query": "packages pnpm npm gateway port"}, "*": "NONE"},
            clock=clock,
        )
        for text in (PNPM, PORT):
            memory.remember(text)
        opened = Loop(memory, **more)
        opened.choose(PNPM)
        return opened

    return make


@pytest.mark.spec("am/A-SCHED-1")
def test_a_prompt_is_looked_at_once_with_what_it_says(loop):
    opened = loop()
    outcome = opened.ask("install the packages")
    assert outcome.block.kind == "steer"
    assert PNPM in outcome.block.text
    assert (
        "user: install the packages"
        in opened.memory.model.asked("steer/query")[0].messages[0].content
    )
    opened.step()
    assert opened.progress() == []
    assert opened.asked("steer/query") == 1


@pytest.mark.parametrize("prompt", ["", " ...", "?!"])
def test_a_prompt_that_says_nothing_costs_no_model_call(loop, prompt):
    opened = loop()
    opened.talk.user("install the packages")
    assert opened.ask(prompt).outcome == "skipped"
    assert opened.asked("steer/query") == 0


@pytest.mark.spec("am/A-SCHED-1")
def test_a_running_loop_is_looked_at_every_two_turns(loop):
    opened = loop()
    opened.ask("install the packages")
    opened.choose(PORT)
    opened.step()
    assert opened.progress() == []
    opened.step("Now the gateway.")
    (block,) = opened.progress()
    assert PORT in block
    assert (
        "assistant: Now the gateway."
        in opened.memory.model.asked("steer/query")[1].messages[0].content
    )


@pytest.mark.spec("am/A-SCHED-1")
@pytest.mark.parametrize("results", [4, 3])
def test_or_after_four_tool_results(loop, results):
    opened = loop()
    opened.ask("install the packages")
    opened.choose(PORT)
    opened.step(results=results)
    assert len(opened.progress()) == (results == 4)


@pytest.mark.spec("am/A-SCHED-1")
def test_or_while_the_model_thinks_with_what_it_thinks(loop):
    opened = loop()
    opened.ask("install the packages")
    opened.choose(PORT)
    thought = "the gateway " * 110
    partial = {"id": "p", "role": "assistant", "parts": [{"type": "thinking", "text": thought}]}
    (block,) = opened.progress(partial=partial)
    assert PORT in block
    asked = opened.prompts("steer/query")[1]
    assert asked.count("the gateway the gateway") > 10


@pytest.mark.spec("am/A-SCHED-1")
def test_what_was_asked_counts_before_the_path_holds_it(loop):
    opened = loop()
    params = {"entries": []}
    opened.run(opened.live.turn_start("t1", "set the gateway up", params, limit_s=5))
    opened.choose(PORT)
    partial = {"id": "p", "role": "assistant", "parts": [{"type": "thinking", "text": "hm " * 500}]}
    assert opened.run(opened._progress({"entries": [], "partial": partial}))
    asked = opened.prompts("steer/query")[1]
    assert asked.count("user: set the gateway up") == 1
    assert "assistant: Thinking: hm" in asked


@pytest.mark.spec("am/A-SCHED-5")
def test_a_host_that_takes_notifications_is_sent_one_and_is_not_kept_waiting(loop):
    opened = loop(capabilities={"steer": True})
    opened.ask("install the packages")
    opened.choose(PORT)
    opened.step(results=4)
    assert opened.progress() == []
    opened.run(asyncio.wait_for(_done(opened), 5))
    ((name, params),) = opened.sent
    assert name == "steer"
    (block,) = params["blocks"]
    assert block["kind"] == "steer"
    assert PORT in block["text"]
    assert block["memories"][0]["id"].startswith("plugin-test:")


async def _done(opened: Loop) -> None:
    await opened.live.steers._job


@pytest.mark.spec("am/A-SCHED-5")
def test_what_is_there_when_the_agent_is_done_goes_with_the_next_prompt(loop):
    opened = loop()
    opened.ask("install the packages")
    opened.choose(PORT)
    opened.step(results=4)
    assert opened.progress(wait=False) == []
    opened.run(_done(opened))
    opened.run(opened.live.turn_end({"entries": opened.talk.wire()}))
    opened.choose()
    outcome = opened.ask("thanks, and what else is there")
    assert PORT in outcome.block.text


@pytest.mark.spec("am/A-SCHED-2")
def test_one_look_at_a_time_and_of_those_that_wait_the_newest(loop):
    gate = Gate()
    opened = loop({"every_tool_results": 1}, gate)
    opened.talk.user("install the packages")

    async def three() -> None:
        for number in range(3):
            opened.step(f"step {number}")
            await opened._progress({"wait": False})
            await asyncio.sleep(0.01)
        gate.open.set()
        await _done(opened)

    opened.run(three())
    assert gate.most == 1
    assert [said.rpartition("step ")[2][0] for said in gate.asked] == ["0", "2"]


@pytest.mark.spec("am/A-SCHED-2")
def test_a_look_inside_the_cooldown_is_dropped_and_not_delayed(loop):
    clock = FakeClock()
    opened = loop({"cooldown_ms": 15_000}, clock=clock)
    assert opened.ask("install the packages").block is not None
    opened.choose(PORT)
    clock.advance(14)
    opened.step(results=4)
    assert opened.progress() == []
    clock.advance(2)
    opened.step()
    assert opened.progress() == []
    opened.step(results=3)
    assert len(opened.progress()) == 1
    assert opened.asked("steer/query") == 2


@pytest.mark.spec("am/A-SCHED-4")
def test_the_same_steer_twice_running_is_dropped(loop):
    opened = loop()
    opened.ask("install the packages")
    opened.now(opened.live.compacted)
    opened.step(results=4)
    assert opened.progress() == []
    assert opened.live.steers.looked.reason == "the last steer over again"


@pytest.mark.spec("am/A-SCHED-3")
def test_after_the_most_times_a_memory_is_kept_from_the_judge(loop):
    opened = loop({"max_steers_per_memory": 1})
    opened.ask("install the packages")
    opened.now(opened.live.compacted)
    opened.step(results=4)
    opened.progress()
    assert PNPM not in opened.prompts("steer/judge")[-1]


@pytest.mark.spec("am/A-RECALL")
def test_its_own_words_hold_it_back_until_a_compaction_takes_them_away(loop):
    opened = loop()
    words = "in this house we only ever install with pnpm"
    told = Provenance(source="session-note", speaker="user", quote=words, session_id="before")
    bank = opened.memory.runtime.bank
    opened.run(
        bank.import_facts([Fact("own", "Packages are installed with pnpm.", provenance=told)])
    )
    for fact in opened.memory.facts():
        if fact.id != "own":
            opened.run(bank.delete_fact(fact.id))
    opened.memory.model.replies.set("steer/judge", {"relevant_ids": ["own"], "reason": "it helps"})

    assert opened.ask(f"Remember: {words.upper()}. Now the packages.").block is None
    assert (opened.asked("steer/query"), opened.asked("steer/judge")) == (1, 0)
    logged = opened.memory.runtime.log.read(50, type="recall.source_context_filtered")
    assert logged[0]["ids"] == ["plugin-test:own"]

    opened.talk.compact("The person talked about packages.")
    opened.now(opened.live.compacted)
    assert opened.ask("install the packages").block is not None


def test_a_memory_that_is_before_the_model_is_not_sent_again(loop):
    opened = loop()
    opened.ask("install the packages")
    opened.choose(PNPM, PORT)
    opened.step(results=4)
    (block,) = opened.progress()
    assert PORT in block
    assert PNPM not in block


def test_where_blocks_live_for_one_turn_each_turn_brings_what_it_needs(loop):
    limits = {"max_steers_per_memory": 1, "cooldown_ms": 60_000}
    opened = loop(limits, capabilities={"blocks": "turn"})
    for _ in range(3):
        assert PNPM in opened.ask("install the packages").block.text


@pytest.mark.spec("am/A-SCHED-8")
def test_cooldowns_and_tokens_outlive_the_process(loop):
    opened = loop({"max_steers_per_memory": 1})
    opened.ask("install the packages")
    opened.step()
    opened.progress()
    (first,) = opened.live.steers.delivered
    opened.end()

    opened.open()

    assert opened.live.steers.delivered == (first,)
    opened.step(results=4)
    opened.progress()
    assert PNPM not in opened.prompts("steer/judge")[-1]


@pytest.mark.spec("am/A-RECALL")
def test_a_memory_lives_longer_once_it_was_sent_and_not_before(loop):
    opened = loop()
    active = opened.memory.runtime.active
    (own,) = [fact.id for fact in opened.memory.facts() if fact.text == PNPM]
    opened.ask("install the packages")
    assert opened.run(active.memory(own)).record.reinforced == 0
    opened.step()
    opened.progress()
    opened.end()
    record = opened.run(active.memory(own)).record
    assert (record.reinforced, record.cause) == (1, "relevant_recall")


def test_an_aborted_turn_leaves_no_trace(loop):
    opened = loop({"max_steers_per_memory": 1})
    opened.ask("install the packages")
    opened.now(opened.live.take_back)
    assert opened.live.steers.delivered == ()
    (own,) = [fact.id for fact in opened.memory.facts() if fact.text == PNPM]
    assert opened.run(opened.memory.runtime.active.memory(own)).record.reinforced == 0
    assert PNPM in opened.ask("install the packages").block.text


@pytest.mark.spec("am/A-FAIL")
def test_trouble_with_the_model_is_told_and_costs_the_agent_nothing(loop):
    opened = loop()
    opened.ask("install the packages")
    opened.memory.model.replies.set("steer/query", ProviderError("quota is used up"))
    opened.step(results=4)
    opened.progress()
    assert [text for text in opened.notices if "quota" in text]
    logged = opened.memory.runtime.log.read(50, type="recall")
    assert logged[0]["outcome"] in ("degraded", "empty", "skipped")


@pytest.mark.spec("am/A-SCHED-7")
def test_a_look_of_a_session_that_has_ended_sends_nothing(loop):
    gate = Gate()
    opened = loop({}, gate, capabilities={"steer": True})

    async def ended() -> None:
        opened.talk.user("install the packages")
        opened.step(results=4)
        await opened._progress({})
        await asyncio.sleep(0.01)
        assert len(gate.asked) == 1
        await opened.live.end("new", timeout_s=5)
        gate.open.set()
        await asyncio.sleep(0.01)

    opened.run(ended())
    assert opened.sent == []


@pytest.mark.parametrize(
    ("steer", "more"), [({"enabled": False}, {}), ({}, {"parent_id": "above"})]
)
def test_neither_where_it_is_off_nor_in_a_sub_agent(loop, steer, more):
    opened = loop(steer, **more)
    assert opened.ask("install the packages").outcome == "skipped"
    opened.step(results=4)
    assert opened.progress() == []
    assert opened.asked("steer/query") == 0


def test_a_switch_of_the_session_ends_it_too(loop):
    opened = loop()
    opened.live.auto.recall = False
    assert opened.ask("install the packages").outcome == "skipped"
