"""Reads JSON with comments and trailing commas into values that know where they stand."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

TRIVIA = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.S)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true\b|false\b|null\b")


class JsonSyntaxError(ValueError):
    """The text is not JSON.

    Attributes:
        line: Where, from 1.
    """

    def __init__(self, message: str, *, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(slots=True)
class Node:
    """A value and where it stands in the text.

    Attributes:
        start: Its first character; ``end`` is behind its last.
        parts: Of an object or array: its children with where they begin, key included.
        keys: Of an object: the names of ``parts``.
    """

    value: Any
    start: int
    end: int = 0
    parts: list[tuple[int, Node]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


class Reader:
    """Reads one text.

    Args:
        text: The whole of it.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self) -> Node:
        """The value that the text holds.

        Raises:
            JsonSyntaxError: It is none.
        """
        self._skip()
        try:
            node = self._value()
        except RecursionError:
            raise JsonSyntaxError("nested too deeply", line=1) from None
        self._skip()
        if self._at < len(self._text):
            raise self._wrong("more than one value")
        return node

    def _value(self) -> Node:
        node = Node(None, self._at)
        opening = self._text[self._at : self._at + 1]
        if opening == "{":
            self._members(node)
        elif opening == "[":
            self._items(node)
        else:
            node.value = self._match(_STRING if opening == '"' else _SCALAR, "a value")
        node.end = self._at
        return node

    def _members(self, node: Node) -> None:
        node.value = {}
        while self._more("}", first=not node.parts):
            start = self._at
            key = self._match(_STRING, "a name in double quotes")
            self._skip()
            self._take(":")
            self._skip()
            child = self._value()
            node.keys.append(key)
            node.parts.append((start, child))
            node.value[key] = child.value

    def _items(self, node: Node) -> None:
        node.value = []
        while self._more("]", first=not node.parts):
            child = self._value()
            node.parts.append((child.start, child))
            node.value.append(child.value)

    def _more(self, closing: str, *, first: bool) -> bool:
        """Step to the next child; False behind the closing bracket."""
        if first:
            self._at += 1
        else:
            self._skip()
            if self._text[self._at : self._at + 1] == ",":
                self._at += 1
            elif self._text[self._at : self._at + 1] != closing:
                raise self._wrong(f"`,` or `{closing}` expected")
        self._skip()
        if self._text[self._at : self._at + 1] == closing:
            self._at += 1
            return False
        return True

    def _match(self, pattern: re.Pattern[str], what: str) -> Any:  # noqa: ANN401 - a JSON scalar
        found = pattern.match(self._text, self._at)
        if found is None:
            raise self._wrong(f"{what} expected")
        try:
            value = json.loads(found.group())
        except ValueError:
            raise self._wrong(f"{what} expected") from None
        self._at = found.end()
        return value

    def _take(self, character: str) -> None:
        if self._text[self._at : self._at + 1] != character:
            raise self._wrong(f"`{character}` expected")
        self._at += 1

    def _skip(self) -> None:
        found = TRIVIA.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _wrong(self, message: str) -> JsonSyntaxError:
        line = self._text.count("\n", 0, min(self._at, len(self._text))) + 1
        return JsonSyntaxError(message, line=line)
