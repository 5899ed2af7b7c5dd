from __future__ import annotations

import pytest

from hindsight_core.recall.person.marker import Marker, find_markers, place

PLAIN = Marker()


@pytest.mark.spec("pi/UB-03")
@pytest.mark.parametrize(
    ("text", "marker"),
    [
        ("<!-- hindsight:user -->", PLAIN),
        ("<!--hindsight:user-->", PLAIN),
        ("  \t<!-- HINDSIGHT:User -->", PLAIN),
        ("<!--\n  hindsight:user\n-->", PLAIN),
        ("<!-- hindsight:user model: profile-1 -->", Marker(model="profile-1")),
        ("<!-- hindsight:user query: how to answer -->", Marker(query="how to answer")),
        ("<!-- hindsight:user QUERY: how to answer limit: 5 -->", Marker(None, "how to answer", 5)),
        (
            "<!-- hindsight:user\nquery: how\n   to answer\nlimit: 5\n-->",
            Marker(None, "how to answer", 5),
        ),
        (
            "<!-- hindsight:user\nlimit: 5\nquery: how to answer -->",
            Marker(None, "how to answer", 5),
        ),
    ],
)
def test_a_marker(text, marker):
    assert find_markers(f"Before.\n{text}\nAfter.") == [marker]


@pytest.mark.spec("pi/UB-03")
def test_one_line_and_several_give_the_same_bytes():
    short = "# Me\n<!-- hindsight:user query: how to answer limit: 5 -->\nEnd.\n"
    long = "# Me\n<!--\n  hindsight:user\n  query: how\n    to answer\n  limit: 5\n-->\nEnd.\n"
    assert place(short, repr) == place(long, repr)


@pytest.mark.spec("pi/UB-03")
@pytest.mark.parametrize(
    "text",
    [
        "Write <!-- hindsight:user --> at the start of a line.",
        "<!-- hindsight:user",
        "<!-- hindsight:user\n<!-- a comment -->",
        "<!-- some other comment -->",
        "<!-- see hindsight:user -->",
        "hindsight:user",
        "<!-- hindsight:user" + "\n" * 40 + "-->",
    ],
)
def test_prose_and_other_comments_stay(text):
    assert find_markers(text) == []
    assert place(text, lambda marker: "X") == text


@pytest.mark.spec("pi/UB-03")
def test_forty_lines_are_still_one():
    assert find_markers("<!-- hindsight:user" + "\n" * 39 + "-->") == [PLAIN]


@pytest.mark.spec("pi/UB-04")
@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("hindsight:team", "no bank 'team'"),
        ("hindsight:", "no bank ''"),
        ("hindsight:user tag: x", "'tag' is no field"),
        ("hindsight:user\nquery: x\nscope: y", "'scope' is no field"),
        ("hindsight:user please", "'please' is no field"),
        ("hindsight:user query:", "query has no value"),
        ("hindsight:user model: ", "model has no value"),
        ("hindsight:user model: a query: b", "exclude one another"),
        ("hindsight:user limit: 5", "with query only"),
        ("hindsight:user model: a limit: 5", "with query only"),
        ("hindsight:user query: a limit: 0", "no positive number"),
        ("hindsight:user query: a limit: -1", "no positive number"),
        ("hindsight:user query: a limit: many", "no positive number"),
        ("hindsight:user query: a query: b", "given twice"),
    ],
)
def test_what_is_refused_whole(fields, problem):
    (marker,) = find_markers(f"<!-- {fields} -->")
    assert problem in marker.problem
    assert (marker.model, marker.query, marker.limit) == (None, None, None)


@pytest.mark.spec("pi/UB-09", "pi/UB-10")
def test_all_markers_are_replaced_and_nothing_else():
    text = "# Me\n\n<!-- hindsight:user -->\nMore.\n  <!-- hindsight:user --> end\n<!-- x -->\n"
    assert place(text, lambda marker: "BLOCK") == "# Me\n\nBLOCK\nMore.\nBLOCK end\n<!-- x -->\n"
    assert place(text, lambda marker: "") == "# Me\n\nMore.\n   end\n<!-- x -->\n"
