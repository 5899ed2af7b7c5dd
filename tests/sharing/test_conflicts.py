from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hindsight_core.identity import fact_id
from hindsight_core.sharing.conflicts import has_markers, merged, resolve, settle, sides
from hindsight_core.sharing.fact_file import FactFile, deleted_form, parse, render

EARLY, LATE = datetime(2030, 3, 4, tzinfo=UTC), datetime(2030, 3, 5, tzinfo=UTC)
OURS = FactFile(id="f1", text="CART_TTL is 96 h", changed=EARLY)
THEIRS = FactFile(id="f1", text="CART_TTL is 48 h", changed=LATE)
CONFLICT = """---
id: f1
kind: fact
state: valid
<<<<<<< HEAD
changed: 2030-03-04T00:00:00Z
---
CART_TTL is 96 h
=======
changed: 2030-03-05T00:00:00Z
---
CART_TTL is 48 h
>>>>>>> origin/main
"""
DIFF3 = CONFLICT.replace(
    "=======\n",
    "||||||| base\nchanged: 2030-03-01T00:00:00Z\n---\nCART_TTL is 72 h\n=======\n",
)


@pytest.mark.parametrize("text", [CONFLICT, DIFF3, CONFLICT.replace("\n", "\r\n")])
def test_both_sides_are_read_back(text):
    assert has_markers(text)
    assert [parse(side, stem="f1") for side in sides(text)] == [OURS, THEIRS]


def test_talk_about_markers_is_no_conflict():
    assert not has_markers("Files with <<<<<<< and ======= and >>>>>>> are refused by CI\n")
    assert not has_markers(render(replace(OURS, text="=======")))


def test_both_texts_are_kept():
    kept = resolve(CONFLICT, stem="f1", how="both")
    assert kept == (OURS, replace(THEIRS, id=fact_id(THEIRS.text)))


def test_or_the_later_one():
    assert resolve(CONFLICT, stem="f1", how="newest") == (THEIRS,)
    assert settle(THEIRS, OURS, how="newest") == (THEIRS,)


def test_without_dates_both_are_kept():
    bare = replace(OURS, changed=None), replace(THEIRS, changed=None)
    assert len(settle(*bare, how="newest")) == 2


def test_a_hunk_in_the_fields_alone_gives_one_fact():
    ours, theirs = replace(OURS, tags=("a",)), replace(OURS, tags=("b",), category="c")
    expected = replace(OURS, tags=("a", "b"), category="c")
    assert settle(ours, theirs, how="both") == (expected,)
    assert settle(theirs, ours, how="both") == (expected,)


def test_who_merges_does_not_matter():
    ours = replace(OURS, state="invalidated", reason="wrong", kind="decision")
    theirs = replace(OURS, said=EARLY, changed=LATE)
    one = merged(ours, theirs)
    assert one == merged(theirs, ours)
    assert (one.state, one.reason, one.kind, one.said) == (
        "invalidated",
        "wrong",
        "decision",
        EARLY,
    )


def test_the_same_on_both_sides_keeps_the_earlier_date():
    assert settle(OURS, replace(OURS, changed=LATE), how="both") == (OURS,)


def test_a_deletion_against_an_edit_keeps_the_text():
    gone = replace(deleted_form("f1"), changed=LATE)
    assert settle(gone, OURS, how="both")[0].text == OURS.text
    assert settle(gone, OURS, how="both")[0].state == "valid"
    assert settle(gone, OURS, how="newest") == (gone,)


def test_first_words_keep_their_own_id():
    first = fact_id("CART_TTL is 48 h")
    ours, theirs = replace(OURS, id=first), replace(THEIRS, id=first)
    kept = settle(ours, theirs, how="both")
    assert [(f.id, f.text) for f in kept] == [
        (first, "CART_TTL is 48 h"),
        (fact_id("CART_TTL is 96 h"), "CART_TTL is 96 h"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        CONFLICT.replace(">>>>>>> origin/main\n", ""),
        CONFLICT.replace("=======\n", ""),
        CONFLICT + ">>>>>>> again\n",
    ],
)
def test_markers_that_do_not_belong_together_are_told(text):
    with pytest.raises(ValueError, match="by hand"):
        sides(text)
