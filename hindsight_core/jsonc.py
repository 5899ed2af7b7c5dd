"""Edits JSON files of other programs in place: comments, order and form of the rest stay.

No kept library does this in Python alone, so here is the small part that an installer needs: put
a member, append an item, take one out. What is read is JSON with comments and trailing commas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from hindsight_core.jsonc_nodes import TRIVIA, JsonSyntaxError, Node, Reader

_INDENT = re.compile(r"\n([ \t]+)\S")
_CLOSING = {"{": "}", "[": "]"}
Key = str | int

__all__ = ["JsonSyntaxError", "JsonText"]


class JsonText:
    """A JSON document that can be changed without being written anew.

    Args:
        text: The file's text; blank text is an empty object.

    Raises:
        JsonSyntaxError: It cannot be parsed.
    """

    def __init__(self, text: str) -> None:
        self.text = text if TRIVIA.sub("", text) else text + "{}"
        self._root = Reader(self.text).read()

    @property
    def value(self) -> Any:  # noqa: ANN401 - whatever the file holds
        """What the text says."""
        return self._root.value

    def get(self, path: Sequence[Key]) -> Any:  # noqa: ANN401 - whatever the file holds
        """The value at a path of keys and indexes; None where there is none."""
        node = self._find(path)
        return node.value if node else None

    def put(self, path: Sequence[Key], value: object) -> None:
        """Set a member, making the objects around it where they are missing."""
        node = self._find(path)
        if node is not None:
            if node.value != value:
                indent = self._indent_of_line(node.start)
                self._replace(node.start, node.end, self._form(value, indent))
            return
        *outer, key = path
        parent = self._find(outer)
        if parent is None:
            self.put(outer, {key: value})
        else:
            self._insert(parent, value, key=str(key))

    def append(self, path: Sequence[Key], item: object) -> None:
        """Add an item to an array, making it where it is missing."""
        node = self._find(path)
        if node is None:
            self.put(path, [item])
        else:
            self._insert(node, item, key=None)

    def drop(self, path: Sequence[Key]) -> None:
        """Take a member or item out; nothing happens where there is none."""
        *outer, key = path
        parent = self._find(outer)
        index = _index(parent, key) if parent else None
        if parent is None or index is None:
            return
        start, node = parent.parts[index]
        before = self.text[:start].rstrip(" \t")
        comma = self._comma(node.end)
        end = node.end if comma is None else comma + 1
        begin = start
        if before.endswith("\n") and not self.text[end:].split("\n", 1)[0].strip():
            # It has its lines to itself. Where it has not, what follows must not be drawn up into
            # a comment on the line above.
            begin = len(before) - (2 if before.endswith("\r\n") else 1)
        elif comma is not None:
            end += len(self.text[end:]) - len(self.text[end:].lstrip(" \t"))
        edits = [(begin, end)]
        if comma is None and index > 0:
            earlier = self._comma(parent.parts[index - 1][1].end)
            if earlier is not None:
                edits.append((earlier, earlier + 1))
                if begin == start:
                    edits[0] = (len(before), end)
        for first, last in edits:
            self.text = self.text[:first] + self.text[last:]
        self._root = Reader(self.text).read()
        self._tidy(outer)

    def _tidy(self, path: Sequence[Key]) -> None:
        """An object or array with nothing in it, not even a comment, closes at once."""
        node = self._find(path)
        if node and not node.parts and not self.text[node.start + 1 : node.end - 1].strip():
            self._replace(node.start + 1, node.end - 1, "")

    def _insert(self, parent: Node, value: object, *, key: str | None) -> None:
        opening = self.text[parent.start]
        if opening not in _CLOSING or (key is None) != (opening == "["):
            raise TypeError("not an object or array")
        inner = self.text[parent.start + 1 : parent.end - 1]
        name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
        place = parent.start + 1 + len(inner.rstrip())
        # A list that ends with a comma goes on doing so.
        closing = "," if parent.parts and self._comma(parent.parts[-1][1].end) is not None else ""
        if parent.parts and "\n" not in inner:
            text = f"{name}{json.dumps(value, ensure_ascii=False)}"
            self.text = f"{self._ended(parent, place)} {text}{closing}{self.text[place:]}"
        else:
            outer = self._indent_of_line(parent.start)
            indent = outer + self._unit
            if parent.parts:
                indent = self._indent_of_line(parent.parts[0][0])
            item = f"{self._newline}{indent}{name}{self._form(value, indent)}{closing}"
            tail = self.text[place:]
            if "\n" not in inner[len(inner.rstrip()) :]:
                tail = f"{self._newline}{outer}{self.text[parent.end - 1 :]}"
            self.text = self._ended(parent, place) + item + tail
        self._root = Reader(self.text).read()

    def _ended(self, parent: Node, place: int) -> str:
        """The text up to ``place``, with a comma behind the last child if it has none."""
        if not parent.parts:
            return self.text[:place]
        last = parent.parts[-1][1].end
        comma = "" if self._comma(last) is not None else ","
        return f"{self.text[:last]}{comma}{self.text[last:place]}"

    def _form(self, value: object, indent: str) -> str:
        text = json.dumps(value, indent=self._unit, ensure_ascii=False)
        return text.replace("\n", f"{self._newline}{indent}")

    def _replace(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]
        self._root = Reader(self.text).read()

    def _find(self, path: Sequence[Key]) -> Node | None:
        node: Node | None = self._root
        for key in path:
            index = _index(node, key) if node else None
            if node is None or index is None:
                return None
            node = node.parts[index][1]
        return node

    def _comma(self, position: int) -> int | None:
        """Where the comma behind a value is."""
        found = TRIVIA.match(self.text, position)
        place = found.end() if found else position
        return place if self.text[place : place + 1] == "," else None

    def _indent_of_line(self, position: int) -> str:
        line = self.text[self.text.rfind("\n", 0, position) + 1 : position]
        return line[: len(line) - len(line.lstrip(" \t"))]

    @property
    def _unit(self) -> str:
        found = _INDENT.search(self.text)
        return found[1] if found else "  "

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"


def _index(node: Node, key: Key) -> int | None:
    if isinstance(key, int):
        return key if isinstance(node.value, list) and key < len(node.parts) else None
    # Of a name that stands there twice the last one counts.
    places = [index for index, name in enumerate(node.keys) if name == key]
    return places[-1] if places else None
