"""The marker in an instruction file or system prompt where the user block goes (pi/UB-03)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

BANK = "user"
LINES = 40
_COMMENT = re.compile(
    r"^(?P<indent>[ \t]*)<!--(?P<body>(?:(?!<!--|-->).)*)-->(?P<rest>[ \t]*\n?)",
    re.MULTILINE | re.DOTALL,
)
_HEAD = re.compile(r"\s*hindsight:(?P<bank>[^\s:]*)(?P<fields>.*)", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(r"(?:^|(?<=\s))(model|query|limit):(?=\s|$)", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"^\s*(?!(?:model|query|limit):)([\w-]+):(?=\s|$)", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker: what the block is made of, or why it is refused whole (pi/UB-04).

    Attributes:
        model: Id of a mental model.
        query: What to search for.
        limit: Facts of the search at most.
        problem: What is wrong with it.
    """

    model: str | None = None
    query: str | None = None
    limit: int | None = None
    problem: str | None = None


def find_markers(text: str) -> list[Marker]:
    """Markers of a text in their order; broken ones say why."""
    read = (_read(match["body"]) for match in _COMMENT.finditer(text))
    return [marker for marker in read if marker is not None]


def place(text: str, make: Callable[[Marker], str]) -> str:
    """The text with each marker replaced; one that becomes nothing takes its line with it."""

    def replaced(match: re.Match[str]) -> str:
        marker = _read(match["body"])
        if marker is None:
            return match[0]
        block = make(marker)
        alone = match["rest"].endswith("\n") or match.end() == len(text)
        if block:
            return block + match["rest"]
        return "" if alone else match["indent"] + match["rest"]

    return _COMMENT.sub(replaced, text)


def _read(body: str) -> Marker | None:
    """A comment's content as a marker; None when it is something else."""
    head = _HEAD.fullmatch(body)
    if head is None or body.count("\n") >= LINES:
        return None
    if head["bank"].casefold() != BANK:
        return Marker(problem=f"there is no bank {head['bank']!r}, only hindsight:{BANK}")
    return _fields(head["fields"])


def _fields(text: str) -> Marker:
    if unknown := _UNKNOWN.search(text):
        return Marker(problem=f"{unknown[1]!r} is no field; fields are model, query and limit")
    first, *parts = _FIELD.split(text)
    if first.strip():
        return Marker(problem=f"{' '.join(first.split())!r} is no field, such as `query: ...`")
    names = [name.casefold() for name in parts[::2]]
    values = [" ".join(value.split()) for value in parts[1::2]]
    given = dict(zip(names, values, strict=True))
    return Marker(problem=problem) if (problem := _problem(names, given)) else _made(given)


def _problem(names: list[str], given: dict[str, str]) -> str | None:
    if len(names) != len(given):
        return "a field is given twice"
    if empty := next((name for name, value in given.items() if not value), None):
        return f"{empty} has no value"
    if "model" in given and "query" in given:
        return "model and query exclude one another"
    limit = given.get("limit")
    if limit is not None and "query" not in given:
        return "limit goes with query only"
    if limit is not None and not (limit.isascii() and limit.isdigit() and int(limit) > 0):
        return f"limit {limit!r} is no positive number"
    if "model" in given and " " in given["model"]:
        return f"model {given['model']!r} is no id"
    return None


def _made(given: dict[str, str]) -> Marker:
    limit = given.get("limit")
    return Marker(given.get("model"), given.get("query"), int(limit) if limit else None)
