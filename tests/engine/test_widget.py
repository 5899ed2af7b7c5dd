"""The widget is one line of at most 72 columns, whatever happens."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.engine.widget import (
    WAITING,
    UserFragment,
    WidgetState,
    columns,
    draw,
    recall_said,
)
from hindsight_core.memory import Fact, Hit
from hindsight_core.turns import Outcome, RecallOutcome

IDLE = WidgetState("proj", health="ok", documents=16, facts=153)
LONG = "記憶" * 60
WORST = replace(
    IDLE,
    bank="銀" * 40,
    documents=999_999,
    facts=999_999,
    retired=999,
    recalls=False,
    memorizes=False,
    user=UserFragment("stale", 9999),
    action=LONG,
)
STATES = {
    "idle": IDLE,
    "recalling": replace(IDLE, busy=True, action=WAITING),
    "storing": replace(IDLE, busy=True, action="↗ compact → memory"),
    "outcome": replace(IDLE, action="↙ recall · 12→3 · which port"),
    "done": replace(IDLE, action="↗ stored 1 doc · 9 lines"),
    "kills": replace(IDLE, retired=3),
    "worst": WORST,
    "unreachable with kills": replace(IDLE, health="error", retired=2),
    "error": replace(IDLE, health="error", error="500 from the server"),
    "error of several lines": replace(IDLE, health="error", error="one\ntwo\r\n\x1b[31mthree"),
    "checking": replace(IDLE, health="checking"),
    "dormant": replace(IDLE, inactive="dormant"),
    "auto off": replace(IDLE, recalls=False, memorizes=False),
    **{
        f"recalls {recalls}, memorizes {memorizes}": replace(
            IDLE, recalls=recalls, memorizes=memorizes, documents=999_999, facts=999_999
        )
        for recalls, memorizes in product((True, False), repeat=2)
    },
}


def tones(state: WidgetState) -> dict[str, str]:
    return {text.strip(): tone for text, tone in draw(state).parts}


@pytest.mark.spec("pi/U-40", "pi/TC-12")
@pytest.mark.parametrize("name", STATES)
def test_one_line_of_at_most_72_columns(name: str) -> None:
    line = draw(STATES[name]).line

    assert line.splitlines() == [line]
    assert "\x1b" not in line
    assert columns(line) <= 72
    assert line.startswith("🧠 ")


@pytest.mark.spec("pi/U-40")
def test_the_order_of_its_parts() -> None:
    state = replace(IDLE, retired=3, user=UserFragment("shown", 4), action="↗ nothing new to store")

    assert draw(state).line == "🧠 ● proj ↙↗ 16d 153f↓3 ≡4 · ↗ nothing new to store"


@pytest.mark.spec("pi/U-40", "pi/TC-12")
@pytest.mark.parametrize("bank", ["a", "bank-name", "銀行", "x" * 40, "長" * 40])
@pytest.mark.parametrize(
    "name", [n for n, s in STATES.items() if s.health == "ok" and not s.inactive]
)
def test_a_cut_tail_lands_on_exactly_72(bank: str, name: str) -> None:
    for action in (LONG, "a" + LONG, "x" * 200):
        line = draw(replace(STATES[name], bank=bank, action=action)).line
        assert columns(line) == 72
        assert line.endswith("…")


@pytest.mark.spec("pi/U-40")
@given(st.text(), st.text(), st.integers(8, 100))
def test_no_text_breaks_the_line(bank: str, action: str, width: int) -> None:
    line = draw(replace(IDLE, bank=bank, action=action), width=width).line

    assert len(line.splitlines()) == 1
    assert columns(line) <= width


def test_a_bank_name_is_at_most_20_columns() -> None:
    parts = draw(replace(IDLE, bank="長" * 40)).parts

    assert columns(parts[2][0]) == 20
    assert parts[2][0].endswith("…")


@pytest.mark.spec("pi/U-41")
@pytest.mark.parametrize(
    ("fields", "icon", "tone"),
    [
        ({"busy": True, "health": "error"}, "⟳", "accent"),
        ({"health": "ok"}, "●", "success"),
        ({"health": "error"}, "●", "error"),
        ({"health": "checking"}, "◐", "dim"),
        ({"health": "unknown"}, "○", "dim"),
    ],
)
def test_the_icon_is_the_health_of_the_bank(fields: Any, icon: str, tone: str) -> None:
    assert draw(replace(IDLE, **fields)).parts[1] == (f"{icon} ", tone)


@pytest.mark.spec("pi/U-42", "pi/TC-12", "pi/V-06")
@pytest.mark.parametrize(
    ("recalls", "memorizes", "cue", "tone"),
    [
        (True, True, "↙↗", "accent"),
        (False, True, "↗", "dim"),
        (True, False, "↙", "dim"),
        (False, False, "auto off", "dim"),
    ],
)
def test_the_cue_names_what_is_automatic_in_the_names_tone(
    recalls: bool, memorizes: bool, cue: str, tone: str
) -> None:
    found = tones(replace(IDLE, recalls=recalls, memorizes=memorizes))

    assert found[cue] == found["proj"] == tone


@pytest.mark.spec("pi/U-43", "pi/TC-12")
def test_size_only_when_the_bank_is_well_and_the_badge_always() -> None:
    assert " 16d 153f" in draw(IDLE).line
    assert " —d —f" in draw(replace(IDLE, documents=None, facts=None)).line
    assert "153f↓3" in draw(replace(IDLE, retired=3)).line
    assert "↓" not in draw(IDLE).line
    away = draw(replace(IDLE, health="error", retired=2)).line
    assert "153f" not in away
    assert " ↓2 " in away


@pytest.mark.spec("pi/U-44")
def test_an_error_goes_before_checking_and_that_before_the_last_action() -> None:
    acted = replace(IDLE, action="↗ stored 1 doc · 9 lines")

    assert draw(acted).line.endswith(" · ↗ stored 1 doc · 9 lines")
    assert draw(replace(acted, health="checking")).line.endswith(" · checking…")
    assert draw(replace(acted, health="error", error="no\nroute")).line.endswith(" · no route")
    assert draw(replace(acted, health="error")).line.endswith(" · bank unreachable")
    assert draw(replace(acted, health="error")).parts[-1][1] == "error"


HIT = Hit(fact=Fact(id="f", text="A is B."), bank="demo", score=1.0)


@pytest.mark.spec("pi/U-45", "br/BR-35")
@pytest.mark.parametrize(
    ("outcome", "fields", "said", "failed"),
    [
        ("injected", {"found": 12, "hits": (HIT,) * 3}, "↙ recall · 12→3 · q", False),
        ("degraded", {"found": 2, "hits": (HIT,)}, "↙ recall by words · 2→1 · q", False),
        ("empty", {"found": 0}, "↙ recall · nothing found · q", False),
        ("empty", {"found": 5}, "↙ recall · 5→0 · q", False),
        ("skipped", {"reason": "a" * 50}, f"↙ skipped ({'a' * 29}…)", False),
        ("failed", {"reason": "no route"}, "↙! no route", True),
    ],
)
def test_outcomes_read_differently(outcome: Outcome, fields: Any, said: str, failed: bool) -> None:
    assert recall_said(RecallOutcome(outcome, **fields), "q") == (said, failed)


@pytest.mark.spec("pi/U-45")
def test_a_query_takes_40_columns_at_most() -> None:
    said, _ = recall_said(RecallOutcome("empty"), "w" * 80)

    assert said == f"↙ recall · nothing found · {'w' * 39}…"


@pytest.mark.spec("pi/U-46")
@pytest.mark.parametrize(
    ("fragment", "shown"),
    [
        (UserFragment("shown", 4), "≡4"),
        (UserFragment("stale", 4), "≡4→"),
        (UserFragment("unavailable"), "≡!"),
        (UserFragment("unasked"), "≡–"),
    ],
)
def test_the_fragment_of_the_user_bank(fragment: UserFragment, shown: str) -> None:
    assert f" {shown} · " in draw(replace(IDLE, user=fragment, action=fragment.said)).line
    assert "≡" not in draw(IDLE).line
    big = replace(WORST, user=replace(fragment, facts=999_999))
    assert columns(draw(big).line) == 72


def test_the_styles() -> None:
    assert draw(IDLE, style="text").line.startswith("memory ● proj")
    assert draw(IDLE, style="off").parts == ()
    assert columns(draw(WORST, style="text", width=24).line) == 24
