"""What a person chose for a session: kept, stricter only, never trusted when it is broken."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hindsight_core.state.choices import Choices, SessionChoices

# mode, recall switched on, retain switched on -> may recall, may retain
MATRIX = [
    ("normal", True, True, True, True),
    ("read-only", True, True, True, False),
    ("ignored", True, True, False, False),
    ("normal", False, True, False, True),
    ("normal", True, False, True, False),
    ("read-only", False, True, False, False),
    ("ignored", True, False, False, False),
]


@pytest.mark.spec("s1/S-SES-2")
@pytest.mark.parametrize(("mode", "recall", "retain", "reads", "writes"), MATRIX)
def test_the_matrix(mode, recall, retain, reads, writes):
    choices = Choices(mode=mode, recall=recall, retain=retain)
    assert (choices.why_no_recall is None) is reads
    assert (choices.why_no_retain is None) is writes


@pytest.mark.spec("s1/S-SES-2")
def test_an_opt_out_leaves_recall_on():
    choices = Choices(next_opt_out=True)
    assert choices.why_no_recall is None
    assert choices.why_no_retain == "this turn is left out"


@pytest.mark.spec("s1/S-SES-1", "s1/S-SES-2")
async def test_switches_survive_a_change_of_mode_and_a_restart(place):
    store = SessionChoices(place.sessions)
    await store.change("S", lambda now: replace(now, retain=False, tags=("urgent",)))
    await store.change("S", lambda now: replace(now, mode="read-only"))
    await place.sessions.set_mode("S", "normal")

    again = SessionChoices(place.again().sessions)
    assert await again.get("S") == Choices(retain=False, tags=("urgent",))
    assert await again.get("other") == Choices()


@pytest.mark.spec("s1/S-SES-3")
@pytest.mark.parametrize(
    ("column", "value"),
    [("mode", "sometimes"), ("choices", "{"), ("choices", "[]"), ("choices", '{"retain": "no"}')],
)
async def test_a_broken_record_is_ignored_until_a_mode_is_chosen(place, column, value):
    store = SessionChoices(place.sessions)
    await store.change("S", lambda now: now)
    await place.sessions.database.write(
        lambda c: c.execute(f"UPDATE modes SET {column} = ?", (value,)).rowcount
    )

    found = await store.get("S")
    assert (found.mode, found.broken) == ("ignored", True)
    assert "cannot be read" in (found.why_no_retain or "")

    await store.change("S", lambda now: replace(now, mode="normal"))
    assert await store.get("S") == Choices()
