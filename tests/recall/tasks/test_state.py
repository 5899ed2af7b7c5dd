from __future__ import annotations

import json

import pytest

from hindsight_core.recall.tasks.detector import conversation
from hindsight_core.recall.tasks.state import TaskState
from hindsight_core.transcript.entry import Entry, Text
from hindsight_core.turns import Turn

NO = '{"changed": false}'


def entry(number: int, role: str, text: str, **changes: object) -> Entry:
    return Entry(f"e{number}", role, (Text(text),), **changes)


def turn(prompt: str, *entries: Entry) -> Turn:
    return Turn(id="t", session_id="s", prompt=prompt, entries=entries)


def talk(count: int) -> tuple[Entry, ...]:
    return tuple(
        entry(n, "assistant" if n % 2 else "user", f"Text {n}. And more.") for n in range(count)
    )


@pytest.mark.spec("pi/T-02")
def test_a_turn_tells_the_answer_since_the_marker():
    state = TaskState().heard(turn("one"), keep=12)
    state = state.heard(turn("two", *talk(2)), keep=12)
    state = state.heard(turn("three", *talk(4)), keep=12)
    assert state.marker == "e3"
    assert [(t.turn.request, t.turn.answer) for t in state.turns] == [
        ("one", ""),
        ("two", "Text 1."),
        ("three", "Text 3."),
    ]


@pytest.mark.spec("pi/T-02")
@pytest.mark.parametrize(("keep", "left"), [(3, ["7", "8", "9"]), (0, ["8", "9"])])
def test_history_is_bounded_and_never_under_two(keep, left):
    state = TaskState()
    for number in range(10):
        state = state.heard(turn(str(number)), keep=keep)
    assert [t.turn.request for t in state.turns] == left


def test_a_marker_that_is_gone_leaves_the_last_answer():
    state = TaskState(marker="elsewhere").heard(turn("go on", *talk(4)), keep=12)
    assert state.turns[0].turn.answer == "Text 3."


@pytest.mark.spec("pi/T-04")
def test_verdicts_stand_between_the_turns_and_unanswered_ones_are_told_together():
    state = TaskState(title="Payments", past_titles=("Import", "Search"))
    for number, verdict in enumerate([None, NO, None, NO, None, None]):
        state = state.heard(turn(f"turn {number}"), keep=12)
        if verdict:
            state = state.same(verdict)

    before, newest = conversation(state)

    asked = [[t.request for t in one.variables.history] for one in before]
    assert asked == [["turn 0", "turn 1"], ["turn 2", "turn 3"]]
    assert [one.answer for one in before] == [NO, NO]
    assert [t.request for t in newest.history] == ["turn 4", "turn 5"]
    assert (before[0].variables.title, before[0].variables.past_titles) == (
        "Payments",
        ("Import", "Search"),
    )
    assert before[1].variables.title == newest.title == ""
    assert newest.past_titles == ()


@pytest.mark.spec("pi/T-04")
def test_the_first_message_names_past_and_current_tasks(prompts):
    state = TaskState(title="Payments", past_titles=("Import", "Search"))
    _, newest = conversation(state.heard(turn("go on"), keep=12))
    assert prompts.render("tasks/detect", newest).text.strip() == (
        "PAST TASKS\n- Import\n- Search\n\nCURRENT TASK: Payments\n\nUSER: go on"
    )


@pytest.mark.spec("pi/T-04")
def test_a_verdict_on_the_newest_turn_is_no_message():
    state = TaskState().heard(turn("go on"), keep=12).same(NO)
    before, newest = conversation(state)
    assert before == [] and [t.request for t in newest.history] == ["go on"]


@pytest.mark.spec("pi/T-07")
def test_another_task_takes_the_title_and_cuts_the_history():
    state = TaskState(title="Import")
    for number in range(3):
        state = state.heard(turn(f"turn {number}"), keep=12)
    state = state.other("REPLY", title="Payments", tail=8)
    assert (state.title, state.past_titles) == ("Payments", ("Import",))
    assert [(t.turn.request, t.verdict) for t in state.turns] == [("turn 2", "REPLY")]


@pytest.mark.spec("pi/T-07")
@pytest.mark.parametrize(("tail", "past"), [(8, "ABC"), (2, "BC"), (0, "")])
def test_past_titles_are_named_once_and_only_the_last_ones(tail, past):
    state = TaskState().heard(turn("x"), keep=12)
    for title in "ABCAD":
        state = state.other("R", title=title, tail=8)
    assert state.past_titles == ("A", "B", "C")
    assert (
        "".join(state.other("R", title="D", tail=tail).past_titles)
        == (past and past + "D")[-tail or 9 :]
    )


@pytest.mark.spec("pi/T-10")
def test_a_session_begins_with_the_first_turn_and_after_a_compaction():
    state = TaskState()
    assert state.boundary(turn("one")) == "session"
    state = state.heard(turn("one"), keep=12)
    assert state.boundary(turn("two", *talk(2))) == "none"
    summary = entry(9, "host", "Summary.", compaction=True)
    assert state.boundary(turn("three", summary, *talk(2))) == "session"
    state = state.heard(turn("three", summary, *talk(2)), keep=12)
    assert state.boundary(turn("four", summary, *talk(4))) == "none"
    assert state.compacted().boundary(turn("five", summary, *talk(4))) == "session"


@pytest.mark.spec("pi/T-01")
def test_it_can_be_handed_to_another_process():
    state = TaskState(title="Import", past_titles=("A",), named=True)
    state = state.heard(turn("one", *talk(2)), keep=12).same(NO)
    assert TaskState.from_memo(json.loads(json.dumps(state.memo()))) == state
    assert TaskState.from_memo({"turns": [{"nonsense": 1}]}) == TaskState()


@pytest.mark.spec("pi/T-04")
def test_turns_of_one_message_stand_apart(prompts):
    state = TaskState().heard(turn("one"), keep=12).heard(turn("two", *talk(2)), keep=12)
    _, newest = conversation(state)
    text = prompts.render("tasks/detect", newest).text.strip()
    assert text == "USER: one\n\nPREVIOUS ANSWER: Text 1.\nUSER: two"
