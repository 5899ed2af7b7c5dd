"""Active memory in a session, as an engine meets it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hindsight_core.engine.active.session import ActiveSession
from hindsight_core.errors import ConfigError
from hindsight_core.memorize.capture.candidate import Candidate
from hindsight_core.testing.clock import FakeClock
from hindsight_core.testing.session import live_session
from hindsight_core.testing.transcripts import TranscriptBuilder

SAID = "my favourite colour is orange"
MEMORY = "The user's favourite colour is orange."
FOUND = "The cache key leaves out the tenant."
REPLIES = {
    "capture/extraction": {
        "match": [
            [
                SAID,
                {
                    "memories": [
                        {
                            "text": MEMORY,
                            "kind": "user_profile",
                            "scope": "global",
                            "confidence": 0.9,
                            "evidence": SAID,
                        }
                    ]
                },
            ]
        ],
        "else": '{"memories": []}',
    },
    "capture/validation": {"accept": True, "reason": "it lasts"},
    "capture/investigation": {"memories": []},
    "capture/investigation_validation": {"accept": True, "reason": "the code shows it"},
    "*": "NONE",
}


class Session:
    """One session of a memory with the profile of active memory."""

    def __init__(self, new_memory: Any, clock: FakeClock, **settings: Any) -> None:
        self.clock = clock
        self.memory = new_memory(
            settings={"profile": "active-memory", "steer": {"enabled": False}, **settings},
            replies=REPLIES,
            clock=clock,
        )
        self.events: list[tuple[str, Any]] = []
        self.memory.runtime.active.listen(lambda name, fields: self.events.append((name, fields)))
        self.talk = TranscriptBuilder()
        self.notices: list[str] = []
        self.live = live_session(
            self.memory.runtime, session_id="s1", tell=lambda _, text: self.notices.append(text)
        )
        self.run(self.live.started("startup", {"entries": []}))

    def run(self, work: Any) -> Any:
        return self.memory.run(work)

    def begin(self, prompt: str) -> None:
        self.run(self.live.turn_start("t", prompt, {"entries": self.talk.wire()}, limit_s=5))
        self.talk.user(prompt)

    def finish(self, answer: str = "Done.") -> None:
        self.talk.assistant(answer)
        self.run(self.live.turn_end({"entries": self.talk.wire()}))
        self.run(self.live.work.settled())

    def say(self, prompt: str) -> None:
        self.begin(prompt)
        self.finish()

    def end(self) -> None:
        self.run(self.live.end("quit", timeout_s=5))

    def result(self, confidence: float = 0.9) -> Any:
        candidate = Candidate(FOUND, "fact", "project", confidence, FOUND, "it took an hour")
        return self.run(self.live.active.store_result(candidate))

    @property
    def texts(self) -> list[str]:
        return [fact.text for fact in self.memory.facts() if fact.state == "valid"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def session(new_memory, clock):
    made = []

    def make(**settings: Any) -> Session:
        made.append(Session(new_memory, clock, **settings))
        return made[-1]

    yield make
    for each in made:
        each.end()


@pytest.mark.spec("am/A-CAP", "am/A-SCHED-6")
def test_a_preference_is_captured_behind_the_turn_and_a_request_is_not(session):
    opened = session()
    opened.say(f"By the way, {SAID}.")
    opened.say("Please rename the module to shop.")
    assert opened.texts == [MEMORY]
    assert any("saved 1 note" in notice for notice in opened.notices)
    record = opened.run(opened.memory.runtime.active.active(
        [fact.id for fact in opened.memory.facts()]
    ))  # fmt: skip
    [memory] = record.values()
    assert memory.record.told.evidence == SAID
    assert memory.record.told.session_id == "s1"


@pytest.mark.spec("am/A-LIFE-6", "am/A-LIFE-1")
def test_a_session_begins_with_a_sweep_and_five_days_later_it_retires(session, clock):
    opened = session()
    opened.say(f"By the way, {SAID}.")
    opened.run(asyncio.sleep(0))
    for _ in range(5):
        assert opened.texts == [MEMORY]
        clock.advance(days=1)
        opened.run(opened.live.active.swept())
    assert opened.texts == []
    assert ("memory.expired", "low_confidence") in [
        (name, fields.get("reason")) for name, fields in opened.events
    ]


@pytest.mark.spec("am/A-LIFE-6")
def test_a_long_session_looks_at_the_date_every_hour(session, clock):
    opened = session()
    slept: list[float] = []

    async def hours(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 40:
            await asyncio.Event().wait()
        clock.advance(seconds)
        await asyncio.sleep(0)

    async def run() -> None:
        active = ActiveSession(opened.live, sleep=hours)
        active.start()
        while len(slept) < 40:
            await asyncio.sleep(0)
        await active.stop()

    opened.run(opened.live.active.stop())
    opened.events.clear()
    opened.run(run())
    assert set(slept) == {3600.0}
    assert [n for n, _ in opened.events if n.startswith("lifecycle.")] == [
        "lifecycle.sweep",
        "lifecycle.daily_sweep",
        "lifecycle.daily_sweep",
    ]


@pytest.mark.spec("am/A-LIFE-6", "am/A-FAIL")
def test_a_sweep_that_fails_costs_the_session_nothing(session):
    opened = session()
    opened.say("Please rename the module to shop.")
    opened.run(opened.live.active.stop())
    opened.events.clear()
    opened.run(opened.memory.runtime.bank.close())
    opened.run(opened.live.active.swept())
    assert opened.events == [("lifecycle.sweep_error", {})]


@pytest.mark.spec("am/A-ASST-4", "am/A-ASST-1")
def test_a_finding_is_stored_by_the_tool_once_it_took_long_enough(session, clock):
    opened = session()
    with pytest.raises(ConfigError, match="no investigation is running"):
        opened.result()
    opened.begin("Why are pages mixed up?")
    opened.talk.assistant("I look.", calls=[opened.talk.call("read", path="cache.py")])
    opened.talk.result("key = path", name="read")
    opened.run(opened.live.follow({"entries": opened.talk.wire()}))
    clock.advance(59)
    opened.begin("In the shop, I mean.")
    with pytest.raises(ConfigError, match=r"taken 59 s; findings are stored after 60 s"):
        opened.result()
    clock.advance(2)
    assert opened.result(confidence=0.61).memory is None
    written = opened.result()
    assert (written.memory.fact.text, written.created) == (FOUND, True)
    told = written.memory.record.told
    assert (told.actor, told.cause, told.elapsed_ms) == (
        "assistant",
        "Why are pages mixed up?",
        61_000,
    )
    assert (told.reason, told.evidence) == ("it took an hour", FOUND)
    [asked] = opened.memory.model.asked("capture/investigation_validation")
    assert "key = path" in asked.messages[0].content
    assert FOUND in asked.messages[0].content
    opened.finish()
    with pytest.raises(ConfigError, match="no investigation is running"):
        opened.result()


@pytest.mark.spec("am/A-ASST-4")
def test_the_tool_path_is_off_with_the_rest(session):
    opened = session(investigation={"enabled": False})
    opened.begin("Why are pages mixed up?")
    with pytest.raises(ConfigError, match="is off"):
        opened.result()


def test_without_the_lifecycle_nothing_sweeps(session):
    opened = session(lifecycle={"enabled": False})
    assert [name for name, _ in opened.events if name.startswith("lifecycle")] == []


class TestAPersonalBank:
    """What holds everywhere is kept where every project finds it."""

    @pytest.fixture
    def opened(self, session):
        opened = session(
            bank={"user_id": "me"},
            steer={"enabled": True, "minimum_memory_age_minutes": 0, "min_vector_score": 0},
        )
        model = opened.memory.model
        model.replies.set("steer/query", {"query": "favourite colour"})
        model.replies.set("steer/judge", {"relevant_ids": [], "reason": "nothing"})
        opened.say(f"By the way, {SAID}.")
        return opened

    def personal(self, opened: Session) -> dict[str, Any]:
        page = opened.run(opened.memory.runtime.open_bank("me").list_facts())
        return {fact.text: fact for fact in page.facts}

    @pytest.mark.spec("am/A-STORE-2", "am/A-CAP")
    def test_a_global_memory_is_kept_in_it(self, opened):
        assert opened.texts == []
        fact = self.personal(opened)[MEMORY]
        assert "project" not in fact.metadata
        active = opened.memory.runtime.active
        memory = opened.run(active.memory(f"me:{fact.id}"))
        assert (memory.record.scope, memory.record.told.evidence) == ("global", SAID)

    @pytest.mark.spec("am/A-RECALL", "am/A-FB-4")
    def test_it_is_sent_rated_and_expires_like_the_project_s_own(self, opened, clock):
        fact = self.personal(opened)[MEMORY]
        opened.memory.model.replies.set(
            "steer/judge", {"relevant_ids": [f"me:{fact.id}"], "reason": "it decides"}
        )
        clock.advance(3600)
        params = {"entries": []}
        turn = opened.live.turn_start("t9", "Which colour?", params, limit_s=5)
        outcome = opened.run(turn)
        assert MEMORY in outcome.block.text
        token = outcome.block.text.partition("Feedback token: ")[2].split(".")[0]
        assert token
        rated = opened.run(
            opened.live.tools.call(
                "memory_feedback",
                {
                    "steerToken": token,
                    "memoryId": f"me:{fact.id}",
                    "outcome": "useful",
                    "reason": "it was right",
                },
            )
        )
        assert "its confidence is now 0.60" in rated.content
        found = opened.run(opened.live.tools.call("memory_search", {"query": "favourite colour"}))
        assert f"[me:{fact.id}]" in found.content
        clock.advance(days=30)
        opened.run(opened.live.active.swept())
        assert self.personal(opened) == {}
        active = opened.memory.runtime.active
        opened.run(active.restore(f"me:{fact.id}"))
        assert MEMORY in self.personal(opened)
