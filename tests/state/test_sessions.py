from __future__ import annotations

import pytest

from hindsight_core.state.sessions import SessionState


@pytest.mark.spec("pi/M-04")
async def test_cursor_and_ranges_survive_and_the_last_word_counts(place):
    assert await place.sessions.cursor("shop", "S") is None
    assert await place.sessions.saved_ranges("shop", "S") == ()
    await place.sessions.set_cursor("shop", "S", "e3")
    await place.sessions.set_saved_ranges("shop", "S", [(None, "e2"), ("e2", "e3")])
    await place.sessions.set_cursor("shop", "S", "e9")
    later = place.again().sessions
    assert await later.cursor("shop", "S") == "e9"
    assert await later.saved_ranges("shop", "S") == ((None, "e2"), ("e2", "e3"))
    assert await later.cursor("shop", "T") is None
    assert await later.cursor("other", "S") is None


async def test_who_comes_late_does_not_move_the_cursor_back(place):
    for entry in ("e3", "e9", "e3"):
        await place.again().sessions.set_cursor("shop", "S", entry)
    assert await place.sessions.cursor("shop", "S") == "e9"


async def test_each_branch_has_its_own_cursor(place):
    for entry in ("e3", "e9", "f5"):
        await place.sessions.set_cursor("shop", "S", entry)
    sessions = place.sessions
    assert await sessions.cursor("shop", "S") == "f5"
    assert await sessions.cursor("shop", "S", path=["e1", "e3", "e4", "e9", "e10"]) == "e9"
    assert await sessions.cursor("shop", "S", path=["e1", "e3", "g4"]) == "e3"
    assert await sessions.cursor("shop", "S", path=["e1"]) is None


@pytest.mark.spec("br/BR-62")
async def test_the_cursor_survives_the_loss_of_state(place):
    await place.sessions.set_cursor("shop", "S", "e3")
    await place.sessions.set_summary("shop", "S", "so far")
    place.sessions.close()
    (place.home / "state.db").unlink()
    later = place.again().sessions
    assert await later.cursor("shop", "S") == "e3"
    assert await later.summary("shop", "S") is None


async def test_without_a_queue_the_file_beside_it_is_used(place):
    await place.sessions.set_cursor("shop", "S", "e3")
    alone = SessionState(place.home / "state.db")
    assert await alone.cursor("shop", "S") == "e3"
    alone.close()


async def test_shown_facts_are_of_one_session_until_a_compaction(place):
    await place.sessions.add_shown("shop", "S", ["a", "b"])
    await place.sessions.add_shown("shop", "S", ["b", "c \ud83d\0"])
    await place.sessions.add_shown("shop", "T", ["d"])
    assert await place.again().sessions.shown("shop", "S") == {"a", "b", "c \ud83d\0"}
    await place.sessions.clear_shown("shop", "S")
    assert await place.sessions.shown("shop", "S") == frozenset()
    assert await place.sessions.shown("shop", "T") == {"d"}


@pytest.mark.spec("pi/D-26")
async def test_parallel_sessions_have_their_own_summaries(place):
    other = place.again().sessions
    await place.sessions.set_summary("shop", "S", "of S \0")
    await other.set_summary("shop", "T", "of T")
    assert await other.summary("shop", "S") == "of S \0"
    assert await place.sessions.summary("shop", "T") == "of T"


@pytest.mark.spec("s1/S-SES-3")
async def test_modes_fail_closed_and_can_be_repaired(place):
    assert await place.sessions.mode("S") == "normal"
    await place.sessions.set_mode("S", "read-only")
    assert await place.again().sessions.mode("S") == "read-only"
    await place.sessions.database.write(
        lambda c: c.execute("UPDATE modes SET mode = '{torn'").rowcount
    )
    assert await place.sessions.mode("S") == "ignored"
    await place.sessions.set_mode("S", "normal")
    assert await place.sessions.mode("S") == "normal"
