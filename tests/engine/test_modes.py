"""What a session may read and write, as a host, a person and an agent meet it."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_core.engine import explicit
from hindsight_core.state.retained import Retained
from hindsight_core.testing.session import live_session
from hindsight_core.testing.transcripts import TranscriptBuilder

SETTINGS = {"memorize": {"mode": ["transcript"], "every_turns": 1}, "recall": {"mode": "plain"}}


class Session:
    def __init__(self, memory: Any, talk: TranscriptBuilder | None = None) -> None:
        self.memory = memory
        self.notices: list[str] = []
        self.live = live_session(
            memory.runtime, session_id="s1", tell=lambda _, text: self.notices.append(text)
        )
        self.talk = talk or TranscriptBuilder()
        self.run(self.live.started("startup", {"entries": self.talk.wire()}))

    def run(self, work: Any) -> Any:
        return self.memory.run(work)

    def say(self, user: str) -> Any:
        """One whole turn; what its recall came to."""
        outcome = self.run(
            self.live.turn_start("t", user, {"entries": self.talk.wire()}, limit_s=5)
        )
        self.talk.user(user)
        self.talk.assistant(f"about: {user}")
        self.run(self.live.turn_end({"entries": self.talk.wire()}))
        return outcome

    def command(self, line: str) -> Any:
        name, _, arguments = line.lstrip("/").partition(" ")
        return self.run(self.live.commands.run(name, arguments))

    def tool(self, name: str, **arguments: object) -> dict:
        params = {"name": name, "arguments": arguments}
        return self.run(explicit.tool(self.live, params, why_off=""))

    def end(self, reason: str = "quit") -> None:
        self.run(self.live.end(reason, timeout_s=10))

    @property
    def written(self) -> str:
        """Every text that is on disk: bank, queue, journal."""
        database = self.memory.runtime.queue.database

        def dump(connection: Any) -> str:
            tables = ("jobs", "journal", "review", "set_aside")
            rows = [connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables]
            return repr(rows)

        documents = self.run(self.memory.runtime.bank.list_documents(limit=100)).documents
        return self.run(database.read(dump)) + "".join(d.text for d in documents)


@pytest.fixture
def session(new_memory):
    return Session(new_memory(settings=SETTINGS))


@pytest.mark.spec("s1/S-SES-2")
def test_a_read_only_session_recalls_and_writes_nothing_by_itself(session):
    session.say("the port is 8443")
    session.command("/hindsight:mode read-only")

    outcome = session.say("which port was it? a quiet word: heron")
    session.end()

    assert outcome.outcome != "skipped"
    assert "8443" in session.written
    assert "heron" not in session.written


@pytest.mark.spec("s1/S-SES-2", "s1/S-REC-1")
def test_an_ignored_session_is_neither_read_nor_written(session):
    session.command("/hindsight:mode ignored")
    outcome = session.say("the word is heron")
    session.end()
    assert (outcome.outcome, outcome.reason) == ("skipped", "this session is ignored (its mode)")
    assert "heron" not in session.written


@pytest.mark.spec("s1/S-RET-4", "s1/S-SES-2")
def test_the_opted_out_turn_is_never_written_and_the_next_one_is(session):
    session.command("/hindsight:next-opt-out")
    session.say("the word is heron")
    session.say("the word is badger")
    session.end()

    assert "heron" not in session.written
    assert "badger" in session.written
    assert any("left out" in notice for notice in session.notices)


@pytest.mark.spec("s1/S-RET-4", "s1/S-SES-2")
@pytest.mark.parametrize("how", ["before it", "within it", "a mark"])
@pytest.mark.parametrize("end", ["compaction", "crash"])
def test_a_turn_that_is_left_out_is_not_written_in_its_middle_either(session, how, end):
    session.say("the word is otter")
    talk, live = session.talk, session.live
    if how == "before it":
        session.command("/hindsight:next-opt-out")
    mark = " #nomem" if how == "a mark" else ""
    asked = f"the word is heron{mark}"
    session.run(live.turn_start("t", asked, {"entries": talk.wire()}, limit_s=5))
    talk.user(asked)
    talk.assistant("the word is badger, I take a look")
    if how == "within it":
        session.command("/hindsight:next-opt-out")
    session.run(live.follow({"entries": talk.wire()}))
    if end == "compaction":
        session.run(live.compact_before({"entries": talk.wire(), "reason": "threshold"}))
        session.run(live.turn_end({"entries": talk.wire()}))
        session.end()
    else:
        session.end("crash")

    assert "otter" in session.written
    assert "heron" not in session.written and "badger" not in session.written


@pytest.mark.spec("s1/S-RET-4", "s1/S-SES-2")
@pytest.mark.parametrize("said_before", [True, False])
def test_a_turn_to_be_left_out_whose_process_was_killed_is_not_written_later(session, said_before):
    if said_before:
        session.say("the word is otter")
    session.command("/hindsight:next-opt-out")
    session.run(session.live.turn_start("t", "heron", {"entries": session.talk.wire()}, limit_s=5))
    session.talk.user("the word is heron")
    session.talk.assistant("the word is badger, I take a look")
    # Nothing more is heard of it: the process is gone.
    again = Session(session.memory, session.talk)
    again.say("the word is also heron")
    again.say("the word is dunlin")
    again.end()

    assert "dunlin" in again.written
    assert ("otter" in again.written) is said_before
    assert "heron" not in again.written and "badger" not in again.written


@pytest.mark.spec("s1/S-RET-4")
def test_what_was_left_out_stays_so_in_a_later_process(session):
    session.say("the word is otter")
    session.command("/hindsight:mode read-only")
    session.say("the word is heron")
    session.command("/hindsight:mode normal")
    session.end("crash")
    again = Session(session.memory, session.talk)
    again.say("the word is badger")
    again.end()

    assert all(word in again.written for word in ("otter", "badger"))
    assert "heron" not in again.written


def test_a_mark_in_the_message_leaves_its_turn_out(session):
    outcome = session.say("the word is heron #nomem")
    refused = session.tool("hindsight_retain", content="after it the agent may write again")
    session.say("the word is badger")
    session.end()

    assert outcome.outcome != "skipped"
    assert refused["isError"] is False
    assert "heron" not in session.written
    assert "badger" in session.written


@pytest.mark.parametrize(
    "choose", ["/hindsight:next-opt-out", "/hindsight:mode read-only", "a mark"]
)
def test_no_log_keeps_the_text_of_a_turn_that_is_left_out(new_memory, choose):
    settings = {**SETTINGS, "log": {"include_text": True, "level": "debug"}}
    session = Session(new_memory(settings=settings))
    session.say("the word is otter")
    mark = ""
    if choose.startswith("/"):
        session.command(choose)
    else:
        mark = " #nomem"
    outcome = session.say(f"which is the word heron?{mark}")
    session.command("/hindsight:mode normal")
    session.say("which is the word dunlin?")
    session.end()

    folder = session.memory.runtime.loaded.paths.home

    def holding(word: str) -> list[str]:
        files = [path for path in folder.rglob("*") if path.is_file()]
        return [path.name for path in files if word.encode() in path.read_bytes()]

    assert outcome.outcome != "skipped"
    assert holding("otter") and holding("dunlin")
    assert holding("heron") == []


def test_private_sections_reach_neither_disk_nor_bank(session):
    session.say("the word is otter <private>but not heron</private>")
    session.end("crash")
    assert "otter" in session.written
    assert "heron" not in session.written


@pytest.mark.spec("s1/S-SES-4")
@pytest.mark.parametrize(
    ("choose", "reads", "writes"),
    [
        ("/hindsight:mode read-only", True, False),
        ("/hindsight:mode ignored", False, False),
        ("/hindsight:retain off", True, False),
        ("/hindsight:recall off", False, True),
        ("/hindsight:next-opt-out", True, False),
    ],
)
def test_tools_say_why_they_refuse(session, choose, reads, writes):
    session.command(choose)
    found = session.tool("hindsight_recall", query="the port")
    kept = session.tool("hindsight_retain", content="The port of the gateway is 8443.")

    assert found["isError"] is not reads
    assert kept["isError"] is not writes
    refused = [result for result in (found, kept) if result["isError"]]
    assert all("refuses" in result["content"] for result in refused)


@pytest.mark.spec("s1/S-SES-5", "s1/S-ID-6")
def test_tags_of_the_session_are_on_what_it_writes(session):
    session.command("/hindsight:tag add urgent")
    session.command("/hindsight:tag add  urgent ")
    session.command("/hindsight:tag add gone")
    said = session.command("/hindsight:tag remove gone")
    session.say("Remember: the gateway listens on port 8443.")
    session.end()

    assert said.text == "tags: urgent"
    documents = session.run(session.memory.runtime.bank.list_documents(limit=9)).documents
    assert all("urgent" in document.tags and "gone" not in document.tags for document in documents)
    assert documents


@pytest.mark.spec("s1/S-SES-5")
@pytest.mark.parametrize("tag", ["x" * 81, "a\x07b"])
def test_a_tag_is_short_and_printable(session, tag):
    assert session.command(f"/hindsight:tag add {tag}").level == "error"


@pytest.mark.spec("s1/S-SES-6")
def test_commands_say_how_the_session_stands(session):
    assert session.command("/hindsight:mode").text == "mode normal"
    session.command("/hindsight:retain off")
    session.command("/hindsight:next-opt-out")
    said = session.command("/hindsight:mode read-only").text
    assert said == "mode read-only · retain off · the next turn is left out"
    assert session.command("/hindsight:mode sometimes").level == "error"
    assert session.command("/hindsight").panel is True
    assert session.command("/hindsight:queue").text == "0 pending, 0 dead".replace(", ", " · ")


def test_another_process_chooses_for_this_one(session):
    from dataclasses import replace

    from hindsight_core.state.choices import SessionChoices

    store = SessionChoices(session.memory.runtime.sessions)
    session.run(store.change("s1", lambda now: replace(now, mode="ignored")))
    assert session.say("the word is heron").outcome == "skipped"
    assert "heron" not in session.written


def test_an_explicit_run_over_an_ignored_session_refuses_with_the_reason(session):
    session.say("the word is otter")
    session.command("/hindsight:mode ignored")
    (report,) = session.run(
        session.memory.runtime.memorizer.remember_transcript(
            session.talk.transcript(), reason="manual"
        )
    )
    assert (report.outcome, report.reason) == ("skipped", "this session is ignored (its mode)")


def test_what_is_left_out_is_known_by_its_ids(session):
    session.command("/hindsight:next-opt-out")
    session.say("the word is heron")
    left = session.run(Retained(session.memory.runtime.queue).left_out("s1"))
    assert left == {"e01": "this turn is left out", "e02": "this turn is left out"}
