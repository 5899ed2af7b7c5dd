"""The tab Log: what happened, newest first, and retired facts come back."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
async def log(screen: Any, learn: Any) -> Any:
    written = screen.view.runtime.log
    ids = await learn("A is B.", "C is D.")
    for fact in ids:
        await screen.view.runtime.bank.set_state(fact, "invalidated", reason="gone")
    kills = [{"id": fact, "text": f"text of {fact}", "quote": "it is gone"} for fact in ids]
    written.write("recall", outcome="injected", found=12, injected=3, session="s1")
    written.write("retain", bank="shop", outcome="stored", facts=["x", "y"], document="d1")
    written.write("invalidate", bank="shop", id="e1", kills=kills)
    written.write("invalidate", bank="shop", id="e2", kills=[])
    written.write("error", reason="no route to the bank")
    written.write("recall", bank="another", outcome="empty", found=0, injected=0)
    screen.size = (120, 60)
    await screen.go("Log")
    await screen.press("enter")
    return screen


def states(screen: Any) -> Any:
    return screen.view.runtime.bank.list_facts(state="valid")


@pytest.mark.spec("pi/U-31")
async def test_rows_newest_first_with_their_glyphs(log: Any) -> None:
    rows = [line[2:] for line in log.body]

    assert [row[0] for row in rows] == ["!", "↓", "↓", "↗", "↙"]
    assert rows[0].endswith("error no route to the bank")
    assert rows[1].rstrip().endswith("invalidate 0 facts")
    assert "invalidate 2 facts" in rows[2]
    assert rows[3].rstrip().endswith("retain stored 2 facts")
    assert "recall injected 12→3" in rows[4]


@pytest.mark.spec("pi/U-31")
async def test_enter_shows_all_of_an_entry(log: Any) -> None:
    await log.press("down", "down", "enter")

    assert "A is B." in log.text
    assert "C is D." in log.text
    await log.press("enter")
    assert "A is B." not in log.text
    await log.press("down", "enter")
    assert "document: d1" in log.text


@pytest.mark.spec("pi/I-09", "pi/U-31", "pi/TC-9", "pi/V-04")
async def test_u_brings_the_facts_of_one_entry_back(log: Any) -> None:
    assert "u restore" in log.lines[-1]
    before = sorted(log.view.loaded.paths.logs.glob("activity-*"))[-1].read_bytes()
    await log.press("down", "down", "u")

    assert log.said == "restored 2"
    assert {fact.text for fact in (await states(log)).facts} == {"A is B.", "C is D."}
    after = sorted(log.view.loaded.paths.logs.glob("activity-*"))[-1].read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].count(b"\n") == 1
    assert log.body[0][2:3] == "↑"
    assert "restore 2 facts" in log.body[0]


@pytest.mark.spec("pi/I-09", "pi/TC-9")
@pytest.mark.parametrize("down", [0, 1, 3, 4])
async def test_other_rows_restore_nothing(log: Any, down: int) -> None:
    lines = len(log.body)
    await log.press(*["down"] * down, "u")

    assert log.said == "nothing to restore here: this entry retired no fact"
    assert (await states(log)).total == 0
    await log.press("r")
    assert len(log.body) == lines


@pytest.mark.spec("pi/D-23")
async def test_an_unreadable_line_hides_no_other(log: Any) -> None:
    file = sorted(log.view.loaded.paths.logs.glob("activity-*"))[-1]
    with file.open("a") as stream:
        stream.write("{broken\n")
    await log.press("r")

    assert len(log.body) == 6
    assert log.body[-1] == "1 unreadable lines were left out"


@pytest.mark.spec("pi/O-01", "pi/U-31")
async def test_the_last_200(log: Any) -> None:
    for number in range(210):
        log.view.runtime.log.write("error", reason=f"number {number}")
    await log.press("r", "end")
    log.size = (100, 24)

    assert "number 10" in log.text
    assert "number 9" not in log.text.replace("number 10", "")
