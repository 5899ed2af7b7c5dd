"""The slash commands of active memory, as a host runs them."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_core.engine.panel_place import PanelPlace
from hindsight_core.testing.session import live_session
from hindsight_core.testing.transcripts import TranscriptBuilder

PNPM = "This project uses pnpm and never npm."
PORT = "The API gateway listens on port 8443 behind nginx."
NAMES = [
    "memory-status",
    "memory-stats",
    "memory",
    "memory-edit",
    "memory-list",
    "memory-forget",
    "memory-compact",
    "memory-settings",
    "memory-why",
    "memory-pause",
    "memory-resume",
]


class Session:
    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.open()

    def open(self) -> None:
        self.live = live_session(self.memory.runtime, session_id="s1")
        self.talk = TranscriptBuilder()
        self.run(self.live.started("startup", {"entries": []}))

    def run(self, work: Any) -> Any:
        return self.memory.run(work)

    def command(self, line: str) -> Any:
        name, _, arguments = line.lstrip("/").partition(" ")
        return self.run(self.live.commands.run(name, arguments))

    def ask(self, prompt: str) -> Any:
        self.run(self.live.turn_start("t1", prompt, {"entries": self.talk.wire()}, limit_s=5))
        self.talk.user(prompt)
        self.talk.assistant("done")
        self.run(self.live.steers.progress({"entries": self.talk.wire()}))

    def ids(self) -> dict[str, str]:
        return {fact.text: fact.id for fact in self.memory.facts()}

    def end(self) -> None:
        self.run(self.live.end("quit", timeout_s=5))


@pytest.fixture
def session(new_memory):
    replies = {"steer/query": {"query": "packages pnpm"}, "*": "NONE"}
    settings = {
        "profile": "active-memory",
        "capture": {"enabled": False},
        "investigation": {"enabled": False},
        "steer": {"enabled": True, "minimum_memory_age_minutes": 0},
    }
    memory = new_memory(settings=settings, replies=replies)
    for text in (PNPM, PORT):
        memory.remember(text)
    opened = Session(memory)
    chosen = {"relevant_ids": [opened.ids()[PNPM]], "reason": "it names the manager"}
    memory.model.replies.set("steer/judge", chosen)
    return opened


@pytest.mark.spec("am/A-TOOL")
def test_all_commands_are_offered_with_active_memory_only(session, new_memory):
    listed = [command["name"] for command in session.live.commands.describe()]
    assert [name for name in listed if name.startswith("memory")] == NAMES
    other = live_session(new_memory(settings={}).runtime)
    assert not [c for c in other.commands.describe() if c["name"].startswith("memory")]


@pytest.mark.spec("am/A-TOOL", "am/A-CFG-7")
def test_status_begins_with_how_it_stands(session):
    def first() -> str:
        return session.command("/memory-status").text.splitlines()[0]

    assert first() == "memory:ready"
    session.live.notices.trouble("model", "the quota is used up")
    assert first() == "memory:error"
    assert "latest error: the quota is used up" in session.command("/memory-status").text
    session.command("/memory-pause")
    assert first() == "memory:paused"
    text = session.command("/memory-status").text
    assert "2 facts in" in text
    assert "steers off" in text
    assert session.memory.runtime.active.project in text


@pytest.mark.spec("am/A-TOOL")
def test_stats_count_what_happened_and_go_on_after_a_resume(session):
    session.ask("install the packages")
    token = session.live.steers.delivered[-1].token
    rating = {"steerToken": token, "memoryId": session.ids()[PNPM]}
    rating |= {"outcome": "useful", "reason": "it changed the command"}
    session.run(session.live.tools.call("memory_feedback", rating))

    def counts() -> dict[str, str]:
        lines = session.command("/memory-stats").text.splitlines()
        return dict(line.split(": ", 1) for line in lines)

    found = counts()
    assert found["recallAttempts"] == "1"
    assert (found["memorySteers"], found["useful"], found["unhelpful"]) == ("1", "1", "0")
    assert "calls" in found["steer/judge"]
    session.end()
    session.open()
    assert counts()["memorySteers"] == "1"


@pytest.mark.spec("am/A-TOOL")
@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("/memory", PanelPlace("Memories")),
        ("/memory port", PanelPlace("Memories", query="port")),
        ("/memory-edit", PanelPlace("Memories", mode="edit")),
        ("/memory-forget", PanelPlace("Memories", mode="forget")),
        ("/memory-settings", PanelPlace("Settings", mode="active-memory")),
        ("/memory-compact", PanelPlace("Combine")),
    ],
)
def test_what_is_chosen_is_chosen_in_the_panel(session, line, place):
    result = session.command(line)
    assert result.panel
    assert session.live.take_panel_place() == place
    assert session.live.take_panel_place() is None


@pytest.mark.spec("am/A-TOOL")
def test_list_shows_ids_and_can_be_narrowed(session):
    text = session.command("/memory-list").text
    for fact, own in session.ids().items():
        assert fact in text
        assert own in text
    assert session.command("/memory-list global").text == "no memories"
    assert len(session.command("/memory-list project").text.splitlines()) == 2
    assert session.command("/memory-list everything").level == "error"


@pytest.mark.spec("am/A-TOOL")
def test_forget_by_the_beginning_of_an_id_and_back_by_one_command(session):
    own = session.ids()[PORT]
    result = session.command(f"/memory-forget {own[:9]}")
    assert PORT in result.text
    assert f"facts restore {session.memory.runtime.bank_id}:{own}" in result.text
    assert PORT not in session.ids()
    retired = session.run(session.memory.runtime.bank.get_fact(own))
    assert (retired.state, retired.reason) == ("invalidated", "forgotten by the user")
    session.run(session.memory.runtime.active.restore(own))
    assert PORT in session.ids()


@pytest.mark.spec("am/A-TOOL")
def test_an_id_that_is_none_or_begins_several_deletes_nothing(session):
    assert session.command("/memory-forget zzz").level == "error"
    for number in range(40):
        session.memory.remember(f"Service number {number} is called name{number}.")
    first = [own[0] for own in session.ids().values()]
    several = next(letter for letter in first if first.count(letter) > 1)
    result = session.command(f"/memory-forget {several}")
    assert result.level == "error"
    assert "give more of it" in result.text
    assert len(session.ids()) == 42


@pytest.mark.spec("am/A-TOOL", "am/A-SCHED-8")
def test_why_tells_the_latest_steer_also_after_a_resume(session):
    assert "nothing was sent" in session.command("/memory-why").text
    session.ask("install the packages")
    token = session.live.steers.delivered[-1].token
    text = session.command("/memory-why").text
    for part in (token, session.ids()[PNPM], "it names the manager", "packages pnpm"):
        assert part in text
    session.end()
    session.open()
    text = session.command("/memory-why").text
    assert token in text
    assert session.ids()[PNPM] in text


@pytest.mark.spec("am/A-TOOL", "am/A-LOG")
def test_pause_and_resume_for_this_session(session):
    session.command("/memory-pause")
    session.ask("install the packages")
    assert session.live.steers.delivered == ()
    assert not session.live.memorizes
    session.command("/memory-resume")
    session.ask("install the packages")
    assert len(session.live.steers.delivered) == 1
    assert session.live.memorizes
    logged = [entry["type"] for entry in session.memory.runtime.log.read(200)]
    assert {"automation.paused", "automation.resumed"} <= set(logged)


@pytest.mark.spec("am/A-SCHED-7")
def test_a_tool_in_flight_across_a_session_change_gives_nothing(session):
    from hindsight_core.engine import explicit

    params = {"name": "memory_search", "arguments": {"query": "gateway port"}}
    same = explicit.tool(session.live, params, why_off="", now=lambda: session.live)
    assert PORT in session.run(same)["content"]
    another = explicit.tool(session.live, params, why_off="", now=lambda: None)
    result = session.run(another)
    assert result["isError"]
    assert "session changed" in result["content"]
    assert PORT not in result["content"]
