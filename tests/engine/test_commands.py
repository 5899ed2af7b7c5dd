"""Slash commands of a session, as a host runs them."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_core.testing.session import live_session
from hindsight_core.testing.transcripts import TranscriptBuilder

REDIS = "The cache of the shop is Redis 7 on port 6380."
BROKER = "The broker of the shop is RabbitMQ."


def keep_all(request: Any) -> dict[str, Any]:
    listed = request.messages[0].content.split("[facts]")[1].split("[end of facts]")[0]
    return {"keep": list(range(1, len(listed.strip().splitlines()) + 1))}


def found(*texts: str) -> dict[str, Any]:
    return {"facts": [{"text": text, "category": "facts"} for text in texts]}


REPLIES = {
    "memorize/extract": found(REDIS),
    "memorize/verify": keep_all,
    "memorize/topics": {"queries": ["shop"]},
    "memorize/dedup": {"known": [], "updates": []},
    "memorize/merge": found(),
    "memorize/summary": "a summary",
    "*": "NONE",
}


class Session:
    """A live session over a memory of its own."""

    def __init__(self, memory: Any, **more: Any) -> None:
        self.memory = memory
        self.notices: list[tuple[str, str]] = []
        self.live = live_session(
            memory.runtime,
            session_id="s1",
            tell=lambda level, text: self.notices.append((level, text)),
            **more,
        )
        self.talk = TranscriptBuilder()

    def say(self, user: str, answer: str = "ok") -> None:
        """One turn of the user and the agent, to its end."""
        self.talk.user(user)
        self.talk.assistant(answer)
        self.end_turn()

    def end_turn(self) -> None:
        self.memory.run(self.live.turn_end({"entries": self.talk.wire()}))

    def command(self, line: str) -> Any:
        """Run a slash command; what the host gets."""
        name, _, arguments = line.lstrip("/").partition(" ")
        return self.memory.run(self.live.commands.run(name, arguments))

    def tool(self, name: str, **arguments: object) -> Any:
        from hindsight_core.engine import explicit

        params = {"name": name, "arguments": arguments}
        return self.memory.run(explicit.tool(self.live, params, why_off=""))

    def settle(self) -> None:
        """Wait for what runs in the background."""
        self.memory.run(self.live.work.finish(timeout_s=10))

    def asked(self, stage: str) -> list[str]:
        return [r.messages[0].content for r in self.memory.model.asked(stage)]

    @property
    def facts(self) -> list[str]:
        return sorted(fact.text for fact in self.memory.facts())


@pytest.fixture
def session(new_memory):
    def make(settings: dict | None = None, **more: Any) -> Session:
        return Session(new_memory(settings=settings or {}, replies=dict(REPLIES)), **more)

    return make


@pytest.mark.spec("pi/U-02", "pi/M-01")
def test_save_memorizes_what_is_new_and_tells_what_came_of_it(session):
    opened = session()
    opened.say("The cache is Redis 7 on port 6380.")
    result = opened.command("/mem-save")
    assert (result.level, result.prompt) == ("info", None)
    opened.settle()
    assert opened.facts == [REDIS]
    assert opened.notices == [("info", f"saved 1 note · 1 line\n  · {REDIS}")]

    opened.command("/mem-save")
    opened.settle()
    assert opened.notices[-1][1].startswith("nothing new to save")
    assert "/mem-save all" in opened.notices[-1][1]


@pytest.mark.spec("pi/U-02", "pi/M-22", "pi/D-03")
def test_save_all_starts_again_and_replaces_what_was_stored(session):
    opened = session()
    opened.say("The cache is Redis 7 on port 6380.")
    opened.command("/mem-save")
    opened.settle()
    opened.say("And the broker is RabbitMQ.")
    opened.memory.model.replies.set("memorize/extract", found(REDIS, BROKER))

    opened.command("/mem-save all")
    opened.settle()

    assert "Redis 7" in opened.asked("memorize/extract")[-1]
    assert opened.facts == sorted([REDIS, BROKER])
    listed = opened.memory.run(opened.memory.runtime.bank.list_documents())
    assert listed.total == 1


@pytest.mark.spec("pi/U-02")
@pytest.mark.parametrize(
    ("line", "usage"),
    [
        ("/mem-save everything", "/mem-save [all]"),
        ("/mem-retain", "/mem-retain <what to study>"),
        ("/mem-retain   ", "/mem-retain <what to study>"),
        ("/mem-recall", "/mem-recall <query>"),
        ("/mem-mark now", "/mem-mark"),
        ("/mem-auto perhaps", "/mem-auto [on|off|"),
        ("/mem-auto recall maybe", "/mem-auto [on|off|"),
    ],
)
def test_wrong_arguments_say_how_it_is_used(session, line, usage):
    result = session().command(line)
    assert result.level == "error"
    assert f"usage: {usage}" in result.text
    assert result.prompt is None


@pytest.mark.spec("pi/U-02", "pi/D-28")
def test_recall_shows_facts_as_lines_and_logs_the_search(session):
    opened = session({"log": {"include_text": True}})
    opened.memory.remember(REDIS)
    result = opened.command("/mem-recall which port has the cache")
    assert result.level == "info"
    assert result.text.startswith("1 fact about 'which port has the cache'")
    assert f"- {REDIS}" in result.text
    assert "{" not in result.text
    (entry,) = opened.memory.runtime.log.read(type="recall")
    assert (entry["query"], entry["found"]) == ("which port has the cache", 1)
    assert "nothing about" in opened.command("/mem-recall the weather in Lisbon").text


@pytest.mark.spec("pi/M-24", "pi/U-02")
def test_mark_passes_over_what_was_said_and_writes_nothing(session):
    opened = session()
    opened.say("The cache is Redis 7 on port 6380.")
    assert opened.command("/mem-mark").level == "info"
    opened.command("/mem-save")
    opened.settle()
    assert opened.memory.model.requests == []
    assert opened.facts == []
    assert opened.memory.run(opened.live.work.pending()) == 0

    opened.say("The broker is RabbitMQ.")
    opened.memory.model.replies.set("memorize/extract", found(BROKER))
    opened.command("/mem-save")
    opened.settle()
    (asked,) = opened.asked("memorize/extract")
    assert "RabbitMQ" in asked
    assert "Redis 7" not in asked


@pytest.mark.spec("pi/M-23")
def test_retain_gives_the_agent_a_task(session):
    result = session({"memorize": {"language": "de"}}).command("/mem-retain the deploy scripts")
    assert result.text is None
    assert "the deploy scripts" in result.prompt
    assert "`hindsight_retain` exactly once" in result.prompt
    assert "facts only" in result.prompt
    assert "of a secret only where it lives, never its value" in result.prompt
    assert '"de"' in result.prompt


def studied(opened: Session) -> list[list[str]]:
    """Entries of the transcript that was extracted: those marked as saved, and the others."""
    text = opened.asked("memorize/extract")[-1].split("[transcript]\n")[1]
    saved, rest = [], []
    inside = False
    for line in text.splitlines():
        if line.startswith("["):
            inside = line == "[ALREADY SAVED TO MEMORY]" or (
                inside and line != "[END ALREADY SAVED]"
            )
        elif line.startswith(("USER:", "ASSISTANT:")):
            (saved if inside else rest).append(line.split(": ")[1].split(" ")[0])
    return [saved, rest]


@pytest.mark.spec("pi/M-23", "pi/D-10", "pi/X-05")
def test_what_is_said_during_a_study_is_marked_as_saved(session):
    opened = session()
    opened.say("before", "early")
    opened.command("/mem-retain the cache")
    opened.talk.user("study it")
    opened.talk.assistant("looking", calls=[opened.talk.call("read", path="a.py")])
    # A tool round is no end of the run: the retain comes after it.
    assert opened.tool("hindsight_retain", content=REDIS)["details"]["outcome"] == "stored"
    opened.talk.assistant("kept it")
    opened.end_turn()
    opened.say("after", "late")
    opened.command("/mem-save")
    opened.settle()
    assert studied(opened) == [["study", "looking", "kept"], ["before", "early", "after", "late"]]


@pytest.mark.spec("pi/M-23", "pi/D-10")
def test_a_study_stays_open_until_the_run_in_which_something_was_retained(session):
    opened = session()
    opened.command("/mem-retain the cache")
    opened.say("study it", "which one?")
    assert ranges(opened) == ()
    opened.talk.user("the big one")
    opened.tool("hindsight_retain", content=REDIS)
    opened.talk.assistant("kept it")
    opened.end_turn()
    assert ranges(opened) == ((None, "e04"),)
    opened.tool("hindsight_retain", content=BROKER)
    opened.say("more", "fine")
    assert ranges(opened) == ((None, "e04"),)


def ranges(opened: Session) -> tuple:
    runtime = opened.memory.runtime
    return opened.memory.run(runtime.sessions.saved_ranges(runtime.bank_id, "s1"))


@pytest.mark.spec("pi/M-23")
def test_a_study_that_retains_nothing_or_adds_nothing_marks_nothing(session):
    opened = session()
    opened.command("/mem-retain the cache")
    for number in range(3):
        opened.say(f"question {number}", "no idea")
    opened.tool("hindsight_retain", content=REDIS)
    opened.say("another thing", "done")
    assert ranges(opened) == ()
    opened.command("/mem-retain the broker")
    opened.tool("hindsight_retain", content=BROKER)
    opened.end_turn()
    assert ranges(opened) == ()


@pytest.mark.spec("pi/U-03")
@pytest.mark.parametrize(
    ("lines", "recall", "memorize"),
    [
        (["/mem-auto"], True, True),
        (["/mem-auto status"], True, True),
        (["/mem-auto off"], False, False),
        (["/mem-auto off", "/mem-auto on"], True, True),
        (["/mem-auto recall"], False, True),
        (["/mem-auto retain"], True, False),
        (["/mem-auto memorize"], True, False),
        (["/mem-auto retain", "/mem-auto retain"], True, True),
        (["/mem-auto recall off"], False, True),
        (["/mem-auto recall off", "/mem-auto RECALL ON"], True, True),
        (["/mem-auto memorize off"], True, False),
        (["/mem-auto off", "/mem-auto retain on"], False, True),
    ],
)
def test_auto_switches_the_contours(session, lines, recall, memorize):
    opened = session()
    for line in lines:
        result = opened.command(line)
    assert (opened.live.recalls, opened.live.memorizes) == (recall, memorize)
    named = {True: "on", False: "off"}
    assert f"recall {named[recall]} · automatic memorizing {named[memorize]}" in result.text


@pytest.mark.spec("pi/U-03")
def test_auto_off_writes_nothing_by_itself_is_forgotten_and_stops_no_command(session):
    opened = session()
    home = opened.memory.runtime.loaded.paths.home
    before = {file.name for file in home.rglob("*.toml")}
    opened.command("/mem-auto off")
    assert {file.name for file in home.rglob("*.toml")} == before
    opened.say("The cache is Redis 7 on port 6380.")
    turn = {"entries": opened.talk.wire()}
    outcome = opened.memory.run(opened.live.turn_start("t1", "which port?", turn, limit_s=5))
    assert outcome.outcome == "skipped"
    opened.memory.run(opened.live.compact_before(turn))
    opened.settle()
    assert opened.memory.model.requests == []
    opened.command("/mem-save")
    opened.settle()
    assert opened.facts == [REDIS]
    other = Session(opened.memory)
    assert (other.live.recalls, other.live.memorizes) == (True, True)


@pytest.mark.spec("pi/U-03")
def test_auto_says_what_keeps_a_contour_off(session):
    opened = session({"recall": {"mode": "off"}, "bank": {"read_only": True}})
    text = opened.command("/mem-auto on").text
    assert "recall.mode is off" in text
    assert "read-only bank" in text


def test_a_read_only_bank_refuses_what_writes(session):
    opened = session({"bank": {"read_only": True}})
    opened.say("The cache is Redis 7 on port 6380.")
    for line in ("/mem-save", "/mem-save all", "/mem-retain the cache"):
        result = opened.command(line)
        assert result.level == "error"
        assert "read_only" in result.text
    assert opened.command("/mem-recall cache").level == "info"
