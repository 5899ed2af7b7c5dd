"""Private sections and marked turns: read off the text, in every process."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.redact import Redactor
from hindsight_core.testing.transcripts import TranscriptBuilder
from hindsight_core.transcript.private import is_left_out, without_marked_turns, without_private
from hindsight_core.transcript.sanitise import Sanitiser

MARKS = ("#nomem",)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>secret</private> b", "a  b"),
        ("<Private>\nx\n</ private >", ""),
        ("a\n<private>\nnever closed", "a\n"),
        ("a <private>x<private>y</private>z</private> b", "a  b"),
        ("the <private> mark hides what follows", "the <private> mark hides what follows"),
        ("a private matter", "a private matter"),
        ("</private> alone", "</private> alone"),
        ("one <private>1</private> two <private>2</private> three", "one  two  three"),
    ],
)
def test_sections_are_left_out(text, left):
    assert without_private(text) == left


@given(st.text("abp <>/", max_size=40), st.text("abc ", min_size=1, max_size=20))
def test_what_stands_between_marks_is_never_left(around, secret):
    secret = f"Q{secret}Q"
    clean = around.replace("<", "").replace(">", "")
    assert secret not in without_private(f"{clean}<private>{secret}</private>{clean}")


def test_every_text_that_crosses_the_boundary_is_without_them():
    sanitiser = Sanitiser(Redactor())
    talk = TranscriptBuilder()
    talk.user("visible <private>hidden</private>")
    talk.result("visible\n<private>hidden</private>")
    talk.assistant("", calls=[talk.call("bash", command="x <private>hidden</private>")])
    assert "hidden" not in repr(sanitiser.entries(talk.path))
    assert "hidden" not in sanitiser.fact_text("visible <private>hidden</private>")


def test_a_message_that_is_all_private_is_no_message():
    talk = TranscriptBuilder()
    talk.user("<private>all of it</private>")
    assert Sanitiser(Redactor()).entries(talk.path) == ()


@pytest.mark.parametrize("text", ["#nomem", "please: #NoMem.", "do it (#nomem)"])
def test_a_mark_is_a_word_of_its_own(text):
    assert is_left_out(text, MARKS)
    assert not is_left_out(text.replace("#", ""), MARKS)
    assert not is_left_out("see docs#nomem-rules", MARKS)


def test_a_marked_turn_goes_to_the_next_message_of_the_user():
    talk = TranscriptBuilder()
    talk.user("first")
    talk.assistant("one")
    talk.user("second #nomem")
    talk.assistant("two", calls=[talk.call("bash", command="ls")])
    talk.result("out")
    talk.user("third")
    talk.assistant("three")
    kept = without_marked_turns(talk.path, MARKS)
    assert [entry.text for entry in kept] == ["first", "one", "third", "three"]
