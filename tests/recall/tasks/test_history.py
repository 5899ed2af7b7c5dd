from __future__ import annotations

import pytest

from hindsight_core.prompt_contexts_recall import TaskDetect
from hindsight_core.recall.tasks.history import clipped, edited, opening, told
from hindsight_core.transcript.entry import Entry, Text, Thinking, ToolCall


def said(text: str, role: str = "assistant") -> Entry:
    return Entry("e", role, (Text(text),))


def edit(name: str, **arguments: object) -> Entry:
    return Entry("e", "assistant", (ToolCall("c", name, arguments),))


@pytest.mark.spec("pi/X-20")
@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("I moved it.  Then I ran\nthe tests.", "I moved it."),
        ("Is v1.2.3 right? Yes.", "Is v1.2.3 right?"),
        ("Look at\n src/app.ts   first", "Look at src/app.ts first"),
        ("x" * 300, "x" * 200 + "…"),
        ("", ""),
    ],
)
def test_an_answer_is_told_by_its_first_sentence(text, first):
    assert opening([said(text)]) == first


@pytest.mark.spec("pi/X-20")
def test_it_is_the_first_words_of_the_assistant_that_count():
    path = [
        said("Do it!", "user"),
        Entry("e", "assistant", (Thinking("Hm."),)),
        said("Fine. More.", "assistant"),
        said("Later.", "assistant"),
    ]
    assert opening(path) == "Fine."


@pytest.mark.spec("pi/X-20")
def test_edited_files_are_named_once_and_at_most_six():
    path = [
        edit("edit", path="a.py"),
        edit("Write", file_path="b.py"),
        edit("multiedit", file="c.py"),
        edit("apply_patch", filename="d.py"),
        edit("str_replace_editor", path="e.py"),
        edit("edit", path="a.py"),
        edit("read", path="never.py"),
        edit("bash", command="touch x"),
        edit("edit", path="f.py"),
        edit("edit", path="g.py"),
    ]
    assert edited(path) == ("a.py", "b.py", "c.py", "d.py", "e.py", "f.py")


@pytest.mark.spec("pi/X-20", "pi/T-02")
@pytest.mark.parametrize(
    ("since", "text"),
    [
        (
            [said("I moved it. Then more."), edit("edit", path="a.py"), edit("write", path="b.py")],
            "PREVIOUS ANSWER: I moved it. | files: a.py, b.py\nUSER: go on",
        ),
        ([said("I moved it.")], "PREVIOUS ANSWER: I moved it.\nUSER: go on"),
        ([edit("edit", path="a.py")], "PREVIOUS ANSWER: files: a.py\nUSER: go on"),
        ([], "USER: go on"),
    ],
)
def test_a_turn_as_the_detector_reads_it(prompts, since, text):
    turn = told("go on", since)
    assert prompts.render("tasks/detect", TaskDetect((turn,))).text.strip() == text


@pytest.mark.spec("pi/X-21")
def test_a_huge_prompt_keeps_its_head_and_its_end():
    assert clipped(" short ") == "short"
    assert clipped("x" * 600) == "x" * 600
    long = clipped("H" * 420 + "middle" * 1000 + "T" * 180)
    assert long == "H" * 420 + "\n…\n" + "T" * 180
