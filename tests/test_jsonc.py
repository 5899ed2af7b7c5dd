"""Editing JSON in place: whatever its form, the rest of the document still says what it said."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.jsonc import JsonSyntaxError, JsonText

KEYS = st.sampled_from(["a", "b", "hooks", "x y", 'q"'])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.sampled_from(["", "//no", "/*no*/", "}", ","]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
GAPS = ("", " ", "\n", "\n  ", " // c, }\n", " /* d, ] */ ", "\n\t/* e\n */\n", "\r\n  ")


@st.composite
def documents(draw: st.DrawFn) -> str:
    """An object in any form: comments, line ends and trailing commas anywhere."""

    def gap() -> str:
        return draw(st.sampled_from(GAPS))

    def written(value: Any) -> str:
        if isinstance(value, dict) and value:
            parts = [
                f"{gap()}{json.dumps(k)}{gap()}:{gap()}{written(v)}{gap()}"
                for k, v in value.items()
            ]
        elif isinstance(value, list) and value:
            parts = [f"{gap()}{written(item)}{gap()}" for item in value]
        else:
            return json.dumps(value)
        tail = draw(st.sampled_from(["", "," + gap()]))
        left, right = "{}" if isinstance(value, dict) else "[]"
        return left + ",".join(parts) + tail + right

    return gap() + written(draw(st.dictionaries(KEYS, VALUES, max_size=4))) + gap()


@given(documents(), KEYS, VALUES)
def test_a_member_that_is_put_is_there_and_the_others_stay(text, key, value):
    document = JsonText(text)
    expected = {**copy.deepcopy(document.value), key: value}

    document.put([key], value)

    assert document.value == JsonText(document.text).value == expected


@given(documents(), st.data())
def test_a_member_that_is_dropped_takes_nothing_with_it(text, data):
    document = JsonText(text)
    expected = copy.deepcopy(document.value)
    comments = [document.text.count(mark) for mark in ("// c, }", "/* d, ] */", "/* e")]
    if not expected:
        return
    key = data.draw(st.sampled_from(sorted(expected)))
    del expected[key]

    document.drop([key])

    assert document.value == JsonText(document.text).value == expected
    assert all(
        document.text.count(m) <= n
        for m, n in zip(("// c, }", "/* d, ] */", "/* e"), comments, strict=True)
    )


@given(documents(), VALUES)
def test_an_item_that_is_appended_and_dropped_leaves_the_same(text, item):
    document = JsonText(text)
    if not isinstance(document.value.get("a", []), list):
        return
    before = copy.deepcopy(document.value.get("a", []))

    document.append(["a"], item)
    assert document.get(["a"]) == [*before, item]
    document.drop(["a", len(before)])

    assert document.get(["a"]) == before


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{\n  // mine\n  "a": {}, "b": 1\n}\n', '{\n  // mine\n  "b": 1\n}\n'),
        ('{\n  "b": 1, // one\n  "a": 2\n}', '{\n  "b": 1 // one\n}'),
        ('{\n  "a": 2, // two\n  "b": 1\n}', '{\n  // two\n  "b": 1\n}'),
        ('{"b": 1, "a": 2}', '{"b": 1}'),
        ('{"a": 2}', "{}"),
    ],
)
def test_what_stands_around_a_dropped_member_stays_as_it_was(text, left):
    document = JsonText(text)
    document.drop(["a"])
    assert document.text == left


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{ this", 1),
        ('{"a": 1\n "b"}', 2),
        ("[1,", 1),
        ('{"a":1}}', 1),
        ("{a:1}", 1),
        ("[" * 9999, 1),
    ],
)
def test_what_is_no_json_is_named_with_its_line(text, line):
    with pytest.raises(JsonSyntaxError) as refused:
        JsonText(text)
    assert refused.value.line == line
