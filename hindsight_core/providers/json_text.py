"""Finds JSON values in what a model wrote: fences, thinking and prose around them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_CHARACTERS = 1_000_000
MAX_REPAIR_CHARACTERS = 200_000
MAX_DEPTH = 64

_THINKING = re.compile(
    r"<(think|thinking|reasoning|reflection)\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE
)
_THINKING_END = re.compile(r"^.*</(?:think|thinking|reasoning)\s*>", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(r"""\{(?=\s*["'}\w“])|\[(?=\s*(?:["'“\[\]{\d-]|true\b|false\b|null\b))""")
_PAIRS = {"}": "{", "]": "["}


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text that looks like one JSON value.

    Attributes:
        text: The characters.
        closed: Its brackets match; an open one was cut off or has broken quotes.
        alone: Nothing but a label with a colon shares its lines.
        deep: Nested deeper than `MAX_DEPTH`; never parsed.
    """

    text: str
    closed: bool = True
    alone: bool = True
    deep: bool = False


def clean(text: str) -> str:
    """The text without NUL and lone surrogates, which no store and no wire accepts."""
    return text.replace("\x00", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_thinking(text: str) -> str:
    """The text without the thinking that some models put before their answer."""
    rest = _THINKING.sub(" ", text)
    return _THINKING_END.sub(" ", rest)


def spans(text: str) -> Iterator[Span]:
    """Outermost JSON-like stretches, left to right; nothing inside a stretch is given again.

    A part of a value that was cut off must never pass for a whole one, so an opening bracket
    that is not closed ends the search.
    """
    position = 0
    while (found := _OPENING.search(text, position)) is not None:
        start = found.start()
        end, deep = _closing(text, start)
        if end is None:
            yield Span(text[start:], closed=False, alone=_alone(text, start, len(text)))
            return
        yield Span(text[start:end], alone=_alone(text, start, end), deep=deep)
        position = end


def _closing(text: str, start: int) -> tuple[int | None, bool]:
    stack: list[str] = []
    deep = False
    in_string = False
    position = start
    while position < len(text):
        sign = text[position]
        if in_string:
            if sign == "\\":
                position += 1
            elif sign == '"':
                in_string = False
        elif sign == '"':
            in_string = True
        elif sign in "{[":
            stack.append(sign)
            deep = deep or len(stack) > MAX_DEPTH
        elif sign in "}]":
            if not stack or stack.pop() != _PAIRS[sign]:
                return None, deep
            if not stack:
                return position + 1, deep
        position += 1
    return None, deep


def _alone(text: str, start: int, end: int) -> bool:
    before = text[text.rfind("\n", 0, start) + 1 : start].strip()
    stop = text.find("\n", end)
    after = text[end : stop if stop >= 0 else len(text)].strip(" \t\r.;`")
    return (not before or before.endswith((":", "`"))) and not after


def strict(text: str) -> object:
    """Parse plain JSON; raw line breaks inside strings are allowed.

    Raises:
        ValueError: It is not JSON.
    """
    try:
        return _shallow(json.loads(text, strict=False, parse_constant=lambda _: None))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def tolerant(span: Span) -> object:
    """Parse JSON with trailing commas, wrong escapes, single quotes, comments, bare words.

    What was cut off is refused: closing it here would pass a part for the whole.

    Raises:
        ValueError: It cannot be read, or is cut off.
    """
    text = span.text if span.closed else _whole(span.text)
    if span.deep or len(text) > MAX_REPAIR_CHARACTERS or _brackets(text) > MAX_DEPTH:
        raise ValueError("too long or too deep to be mended")
    from json_repair import loads

    try:
        return _shallow(loads(text))
    except (ValueError, RecursionError, IndexError, TypeError, KeyError) as error:
        raise ValueError("cannot be mended") from error


def _whole(text: str) -> str:
    """The stretch up to its last closing bracket, when all brackets are there."""
    closer = "}" if text[0] == "{" else "]"
    whole = text[: text.rfind(closer) + 1]
    balanced = all(whole.count(a) == whole.count(b) for b, a in _PAIRS.items())
    rest = text[len(whole) :]
    if not whole or not balanced or '"' in rest:
        raise ValueError("the JSON is cut off")
    return whole


def _shallow(value: object) -> object:
    """The value, if later steps can walk it without running out of stack."""
    layer: list[object] = [value]
    depth = 0
    while layer:
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError("nested too deeply")
        layer = [
            inner
            for item in layer
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return value


def _brackets(text: str) -> int:
    """Deepest nesting when strings are not told apart: the mending parser is recursive."""
    deepest = depth = 0
    for sign in text:
        if sign in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in "}]":
            depth -= 1
    return deepest
