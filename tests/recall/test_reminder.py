"""The reminder: below the facts, or alone after silent turns, and never two."""

from __future__ import annotations

import pytest

from hindsight_core.memory import BankStats
from hindsight_core.prompts import Prompts
from hindsight_core.recall.block import wrap
from hindsight_core.recall.reminder import Reminded, Reminder
from hindsight_core.recall.shown import read_back
from hindsight_core.turns import Block, RecallOutcome, Turn

INJECTED = RecallOutcome("injected", block=Block("recall", "facts"))
EMPTY = RecallOutcome("empty")


class Talk:
    """Turns of one session, as the runner and a live session make them."""

    def __init__(self, reminder: Reminder) -> None:
        self.reminder = reminder

    def turn(self, *, injects: bool = False, boundary: str = "none", **more: object) -> str:
        """``full``, ``short`` or nothing, by the words of the text."""
        asked = Turn("t", "s", "go on", injects=injects, boundary=boundary, **more)
        text = self.reminder.hindsight_remind(asked)
        block = Block("recall" if injects else "reminder", text or "") if injects or text else None
        self.reminder.settle(RecallOutcome("injected" if injects else "empty", block=block))
        return "" if text is None else "full" if len(text.splitlines()) > 1 else "short"

    def silent(self, count: int) -> list[str]:
        return [self.turn() for _ in range(count)]


@pytest.fixture
def talk(settings):
    def make(*, counts: BankStats | None = None, stays: bool = True, **sections: dict) -> Talk:
        prompts = Prompts()
        return Talk(
            Reminder(
                settings(**sections),
                lambda: prompts,
                bank="shop",
                counts=lambda: counts,
                stays=stays,
            )
        )

    return make


@pytest.mark.spec("pi/B-03", "pi/B-07")
@pytest.mark.parametrize(
    ("boundary", "form"), [("session", "full"), ("task", "short"), ("none", "")]
)
def test_below_facts_it_depends_on_what_begins(talk, boundary, form):
    made = talk()
    assert made.turn(injects=True, boundary=boundary) == form
    assert made.reminder.state.full is (form == "full")


@pytest.mark.spec("pi/B-03")
def test_the_interval_does_not_hold_it_back_below_facts(talk):
    made = talk(reminder={"turns": 0})
    assert [made.turn(injects=True, boundary="task") for _ in range(3)] == ["short"] * 3


@pytest.mark.spec("pi/B-04", "pi/B-08", "pi/B-05")
def test_a_session_without_facts_is_reminded_at_once_and_then_every_n_turns(talk):
    assert talk(reminder={"turns": 3}).silent(8) == [
        "full", "", "", "short", "", "", "short", "",
    ]  # fmt: skip


@pytest.mark.spec("pi/B-04", "pi/B-07")
def test_facts_set_the_counter_back(talk):
    made = talk(reminder={"turns": 3})
    made.turn(injects=True)
    assert made.silent(2) == ["", ""]
    made.turn(injects=True)
    assert made.silent(4) == ["", "", "full", ""]


@pytest.mark.spec("pi/B-04")
@pytest.mark.parametrize("turns", [0, -1])
def test_under_one_there_is_none_alone(talk, turns):
    assert talk(reminder={"turns": turns}).silent(12) == [""] * 12


@pytest.mark.spec("pi/B-05", "pi/B-06")
def test_the_full_text_comes_again_when_a_compaction_took_it(talk):
    made = talk(reminder={"turns": 1})
    assert made.silent(2) == ["full", "short"]
    made.reminder.forget()
    assert made.silent(2) == ["full", "short"]


@pytest.mark.spec("pi/B-05")
def test_where_blocks_live_for_one_turn_it_is_always_full(talk):
    assert talk(reminder={"turns": 1}, stays=False).silent(3) == ["full"] * 3


@pytest.mark.spec("pi/B-01")
def test_switched_off_nothing_is_said_or_counted(talk):
    made = talk(reminder={"enabled": False})
    assert made.turn(injects=True, boundary="session") == ""
    off = Talk(made.reminder)
    off.reminder.settle(EMPTY)
    assert off.reminder.state.silent == 0


@pytest.mark.spec("pi/B-01")
def test_a_turn_that_did_not_recall_is_not_counted(talk):
    made = talk(reminder={"turns": 2})
    made.turn(injects=True)
    for outcome in ("skipped", "failed"):
        made.reminder.settle(RecallOutcome(outcome))
    assert made.silent(2) == ["", "full"]


def test_children_are_not_reminded(talk):
    assert talk().turn(is_child=True) == ""
    assert talk().turn(injects=True, boundary="session", is_child=True) == ""


@pytest.mark.spec("pi/B-02")
def test_a_turn_that_is_aborted_changes_nothing(talk):
    made = talk(reminder={"turns": 1})
    made.reminder.hindsight_remind(Turn("t", "s", "go on"))
    assert made.reminder.state == Reminded()
    assert made.turn() == "full"
    made.reminder.take_back()
    assert made.reminder.state == Reminded()


@pytest.mark.spec("pi/B-09", "pi/B-10")
def test_the_full_text_names_the_bank_its_size_and_the_tools(talk):
    made = talk(counts=BankStats(3, 1), memorize={"language": "de"})
    text = made.reminder.hindsight_remind(Turn("t", "s", "x", boundary="session", injects=True))
    assert len(text.splitlines()) == 3
    first, second, third = text.splitlines()
    assert '"shop"' in first and "3 documents" in first and "1 fact)" in first
    assert "hindsight_recall (fast)" in second and "hindsight_reflect" in second
    assert "SLOW (tens of seconds)" in second
    assert "hindsight_retain" in third and "in de" in third
    assert "🧠" not in text


@pytest.mark.spec("pi/B-09")
def test_without_counts_it_names_prior_sessions(talk):
    text = talk().reminder.hindsight_remind(Turn("t", "s", "x"))
    assert "prior sessions" in text and "documents" not in text


@pytest.mark.spec("pi/B-09")
def test_the_short_text_is_one_line_with_the_three_tools(talk):
    made = talk(memorize={"language": "de"})
    text = made.reminder.hindsight_remind(Turn("t", "s", "x", boundary="task", injects=True))
    assert len(text.splitlines()) == 1
    for named in ('"shop"', "hindsight_recall", "hindsight_retain", "hindsight_reflect", "de"):
        assert named in text


@pytest.mark.spec("pi/B-09")
@pytest.mark.parametrize("kind", ["recall", "reminder"])
def test_its_label_says_that_nobody_asked_for_it(prompts, kind):
    text = wrap(prompts, kind, recalled="facts" if kind == "recall" else None, reminder="Look.")
    label = text.splitlines()[text.splitlines().index("Look.") - 1]
    for said in ("Automatic", "memory", "Neither the user's instruction nor recalled facts"):
        assert said in label


@pytest.mark.spec("pi/B-11")
def test_it_stands_below_the_facts_and_is_none_of_them(prompts):
    recalled = "- [2026-03-01] The importer retries 5 times\n"
    text = wrap(prompts, "recall", recalled=recalled, reminder="- not a fact")
    closing = text.splitlines()[3]
    assert read_back([text], closing=closing) == {
        "the importer retries 5 times",
        "[2026-03-01] the importer retries 5 times",
    }
