"""Which document new entries go into: added to it, in its place, or one of their own.

A document that is written once more never holds less than before: where a path has lost entries
of it (a compaction, another branch), the session goes on in a further part (oc/O-CMP-5).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from hindsight_core.config.slugs import digest
from hindsight_core.identity import document_id as window_id
from hindsight_core.memorize.transcript.cursor import turns

if TYPE_CHECKING:
    from hindsight_core.config.settings import Retain
    from hindsight_core.memorize.transcript.cursor import Link
    from hindsight_core.state.retained import Row

Kind = Literal["append", "replace", "window"]
_PART = re.compile(r"-c(\d+)\Z")


@dataclass(frozen=True, slots=True)
class Plan:
    """One write.

    Attributes:
        kind: What it does to the document.
        document_id: The document.
        new: The entries that become dealt with.
        content: What the document's text is made of; those before the new ones are repeated.
    """

    kind: Kind
    document_id: str
    new: tuple[Link, ...]
    content: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """The documents of one session.

    Attributes:
        session_id: The session.
        host: The agent program.
        settings: ``retain.document``, ``update_mode`` and ``document_name``.
        appends: The bank adds to a document exactly once.
    """

    session_id: str
    host: str
    settings: Retain
    appends: bool

    @property
    def name(self) -> str:
        """The session's document (s1/S-ID-5, oc/O-RET-2): the same after every restart."""
        values = {
            "{host}": self.host,
            "{session}": self.session_id,
            "{sessionHash}": digest(self.session_id, length=16),
        }
        name = self.settings.document_name
        for placeholder, value in values.items():
            name = name.replace(placeholder, value)
        return name

    def plan(self, new: Sequence[Link], *, path: Sequence[Link], known: Mapping[str, Row]) -> Plan:
        """The write for new entries.

        Args:
            new: Not dealt with, in the order of the path, never empty.
            path: The whole path.
            known: What is recorded of the session's entries.
        """
        if self.settings.document == "session" and self.settings.update_mode == "replace":
            return self._replaced(new, path=path, known=known)
        if self.settings.document == "session" and self.appends:
            return Plan("append", self.name, tuple(new), tuple(new))
        first, last = new[0].entry.id, new[-1].entry.id
        own = window_id(self.session_id, first, last, host=self.host)
        if self.settings.document == "turns":
            own = f"{self.session_id}-{own.rpartition('-')[2]}"
        # An edited message is another content: it must not take the place of what was said.
        if any(link.entry.id in known for link in new):
            own = f"{own}-{new[-1].fingerprint[:8]}"
        return Plan("window", own, tuple(new), tuple(new))

    def _replaced(
        self, new: Sequence[Link], *, path: Sequence[Link], known: Mapping[str, Row]
    ) -> Plan:
        current = self._current({row.document_id for row in known.values()})
        held = {key for key, row in known.items() if row.document_id == current}
        added = {link.entry.id for link in new}
        content = tuple(link for link in path if link.entry.id in held | added)
        if not held <= {link.entry.id for link in content}:
            current = self._part(int(_number(current)) + 1)
            content = tuple(new)
        return Plan("replace", current, tuple(new), content)

    def _current(self, used: Collection[str]) -> str:
        parts = [_number(name) for name in used if self._is_part(name)]
        return self._part(max(parts, default=0))

    def _is_part(self, name: str) -> bool:
        return name == self.name or (name.startswith(self.name) and _PART.search(name) is not None)

    def _part(self, number: int) -> str:
        return f"{self.name}-c{number}" if number else self.name


def groups(
    new: Sequence[Link], settings: Retain, *, every: int, most: int
) -> Iterator[tuple[Link, ...]]:
    """New entries in the portions that become documents of their own.

    With ``retain.document = "turns"`` the last holds ``every`` turns and so do those before it;
    otherwise a portion ends only where it would be too large.

    Args:
        new: Entries not dealt with.
        settings: Which documents there are.
        every: Turns a document.
        most: Characters of a portion, about.
    """
    if settings.document == "session" and settings.update_mode == "replace":
        yield tuple(new)
        return
    for part in _by_turns(new, max(1, every)) if settings.document == "turns" else [tuple(new)]:
        yield from _by_size(part, most)


def _by_turns(new: Sequence[Link], every: int) -> Iterator[tuple[Link, ...]]:
    starts = [n for n, link in enumerate(new) if turns([link.entry])]
    cuts = [0, *starts[len(starts) % every or every :: every], len(new)]
    for start, end in pairwise(cuts):
        if new[start:end]:
            yield tuple(new[start:end])


def _by_size(part: Sequence[Link], most: int) -> Iterator[tuple[Link, ...]]:
    piece: list[Link] = []
    size = 0
    for link in part:
        length = sum(len(getattr(item, "text", "")) for item in link.entry.parts)
        full = size >= most // 2 and bool(turns([link.entry]))
        if piece and (full or size + length > most):
            yield tuple(piece)
            piece, size = [], 0
        piece.append(link)
        size += length
    if piece:
        yield tuple(piece)


def _number(name: str) -> int:
    found = _PART.search(name)
    return int(found[1]) if found else 0
