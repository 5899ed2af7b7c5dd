"""``hindsight-mem sessions``: modes of sessions from outside of a host."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.memory import Document
from hindsight_core.state.choices import SessionChoices
from hindsight_core.state.journal import Journal
from hindsight_core.state.owner import Owner
from hindsight_core.state.queue import Queue
from hindsight_core.state.sessions import SessionState
from hindsight_core.testing.transcripts import TranscriptBuilder


@pytest.fixture
def home() -> Path:
    return Path(os.environ["HINDSIGHT_MEM_HOME"])


@pytest.fixture
def known(home: Path) -> None:
    """A session that stored something, one that waits, one that only chose."""

    async def work() -> None:
        queue = Queue(home / "queue.db")
        await queue.enqueue("shop", Document("d1", "text"), session_id="abc-stored")
        job = await queue.claim("shop", Owner.here())
        await queue.done(job, ["f1", "f2"])
        talk = TranscriptBuilder()
        talk.user("hello")
        journal = Journal(queue)
        await journal.append("other", "abd-waits", talk.path, host="pi", project="depot")
        await journal.release("other", "abd-waits")
        journal.close()
        queue.close()

    asyncio.run(work())


def choices(home: Path, session: str) -> Any:
    async def work() -> Any:
        state = SessionState(home / "state.db")
        found = await SessionChoices(state).get(session)
        state.close()
        return found

    return asyncio.run(work())


def test_sessions_with_where_they_stand(mem: Any, known: None) -> None:
    listed = mem("sessions", "list", "--json").data
    rows = {row["id"]: row for row in listed["sessions"]}
    assert set(rows) == {"abc-stored", "abd-waits"}
    assert rows["abc-stored"]["documents"] == 1
    assert rows["abc-stored"]["banks"] == ["shop"]
    assert rows["abd-waits"] | {"at": None} == {
        "id": "abd-waits", "mode": "normal", "recall": "on", "retain": "on", "next_turn": "keep",
        "tags": [], "broken": False, "host": "pi", "project": "depot", "banks": ["other"],
        "documents": 0, "waiting": 1, "at": None,
    }  # fmt: skip
    assert "1 waiting" in mem("sessions", "list").out
    of_shop = mem("sessions", "list", "--bank", "shop", "--json").data["sessions"]
    assert [row["id"] for row in of_shop] == ["abc-stored"]


@pytest.mark.spec("s1/S-SES-1", "s1/S-SES-2")
def test_a_mode_is_set_by_the_beginning_of_an_id(mem: Any, known: None, home: Path) -> None:
    said = mem(
        "sessions", "set", "abc", "--mode", "read-only", "--recall", "off",
        "--next-turn", "leave-out", "--tag", " urgent ", "--tag", "urgent",
    )  # fmt: skip
    assert said.code == 0
    assert "read-only · recall off · next turn left out · tags urgent" in said.out
    found = choices(home, "abc-stored")
    assert (found.mode, found.recall, found.retain) == ("read-only", False, True)
    assert (found.next_opt_out, found.tags) == (True, ("urgent",))

    mem("sessions", "set", "abc", "--untag", "urgent", "--recall", "on", "--next-turn", "keep")
    again = choices(home, "abc-stored")
    assert (again.mode, again.recall, again.next_opt_out, again.tags) == (
        "read-only",
        True,
        False,
        (),
    )
    shown = mem("sessions", "show", "abc-stored", "--json").data
    assert shown["mode"] == "read-only"


@pytest.mark.spec("s1/S-SES-3")
def test_a_broken_record_is_shown_and_repaired(mem: Any, known: None, home: Path) -> None:
    async def spoil() -> None:
        state = SessionState(home / "state.db")
        await SessionChoices(state).change("abc-stored", lambda now: now)
        await state.database.write(lambda c: c.execute("UPDATE modes SET choices = '{'") and None)
        state.close()

    asyncio.run(spoil())
    assert mem("sessions", "show", "abc", "--json").data["broken"] is True
    assert "choose a mode" in mem("sessions", "list").out
    mem("sessions", "set", "abc", "--mode", "normal")
    assert choices(home, "abc-stored").broken is False


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["show", "ab"], "begins 2 sessions"),
        (["show", "zzz"], "no session 'zzz'"),
        (["set", "abc"], "nothing to set"),
        (["set", "abc", "--tag", "x" * 81], "is no tag"),
        (["set", "abc", "--mode", "sometimes"], "sometimes"),
    ],
)
def test_what_is_wrong_is_said(mem: Any, known: None, arguments: list[str], why: str) -> None:
    said = mem("sessions", *arguments)
    assert said.code == 2 and why in said.err


def test_nothing_is_known_yet(mem: Any) -> None:
    assert "no session is known" in mem("sessions", "list").out
    assert mem("sessions", "list", "--json").data == {"sessions": [], "total": 0}
