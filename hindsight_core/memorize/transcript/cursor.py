"""What of a path is new: by a chain of hashes, then entry by entry (s1/S-CUR, oc/O-CA-3).

A fingerprint stands for one entry's content, a chain for the whole path up to it. Where the chain
of a recent entry is the one that was recorded, everything up to it is dealt with and nothing else
need be looked at. Where no chain fits (a branch, a compaction, an edited message), the entries
are compared one by one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from hindsight_core.state.retained import Row

if TYPE_CHECKING:
    from hindsight_core.transcript.entry import Entry

TAIL = 200
_START = ""


@dataclass(frozen=True, slots=True)
class Link:
    """An entry of a path with what identifies it.

    Attributes:
        entry: The entry, sanitised.
        fingerprint: Of its role and parts; a host may date a message anew.
        chain: Of the path up to it, dates included: a fork repeats those of where it comes from.
    """

    entry: Entry
    fingerprint: str
    chain: str

    def row(self, document_id: str = "") -> Row:
        """What is recorded of it."""
        return Row(self.entry.id, self.fingerprint, self.chain, document_id)


class Trail:
    """The links of one session's path; only what is new in a path is hashed."""

    def __init__(self) -> None:
        self._links: list[Link] = []

    def follow(self, path: Sequence[Entry]) -> tuple[Link, ...]:
        """The links of a path."""
        same = 0
        for link, entry in zip(self._links, path, strict=False):
            if link.entry is not entry and link.entry != entry:
                break
            same += 1
        del self._links[same:]
        for entry in path[same:]:
            before = self._links[-1].chain if self._links else _START
            mark = fingerprint(entry)
            self._links.append(Link(entry, mark, _chain(before, entry, mark)))
        return tuple(self._links)


@dataclass(frozen=True, slots=True)
class Fresh:
    """What of a path is to be dealt with.

    Attributes:
        new: Entries not dealt with, or edited since, in the order of the path.
        moved: Entries that are dealt with, under another chain than the recorded one.
        grown: The path is the recorded one with entries added at its end.
    """

    new: tuple[Link, ...]
    moved: tuple[Link, ...] = ()
    grown: bool = True


def by_chain(links: Sequence[Link], known: Mapping[str, Row]) -> Fresh | None:
    """What follows the last entry whose chain is recorded; None when no chain fits."""
    for number in range(len(links) - 1, -1, -1):
        link = links[number]
        if _is_recorded(link, known):
            rest = links[number + 1 :]
            if any(same(other, known) for other in rest):
                return None
            return Fresh(tuple(rest))
    return None


def by_entry(links: Sequence[Link], known: Mapping[str, Row], *, carried: int = 0) -> Fresh:
    """Compare one by one; the first ``carried`` are those of the session that was forked.

    What stands before an entry whose chain is recorded is dealt with, also when it was pruned.
    """
    behind = max((at for at, link in enumerate(links) if _is_recorded(link, known)), default=-1)
    new, moved = [], []
    for number, link in enumerate(links):
        row = known.get(link.entry.id)
        if row is None and number < behind:
            continue
        if number < carried or same(link, known):
            if row is None or row.chain != link.chain:
                moved.append(link)
            continue
        new.append(link)
    return Fresh(tuple(new), tuple(moved), grown=bool(carried) or not known)


def _is_recorded(link: Link, known: Mapping[str, Row]) -> bool:
    row = known.get(link.entry.id)
    return row is not None and row.chain == link.chain


def same(link: Link, known: Mapping[str, Row]) -> bool:
    """Whether an entry is dealt with in this very wording."""
    row = known.get(link.entry.id)
    return row is not None and row.fingerprint == link.fingerprint


def fingerprint(entry: Entry) -> str:
    """Hash of an entry's id, role and parts."""
    parts = [[type(part).__name__, asdict(part)] for part in entry.parts]
    return _hash([entry.id, entry.role, parts])


def turns(entries: Collection[Entry]) -> int:
    """How many messages of the user are among entries (oc/O-RET-1)."""
    return sum(entry.role == "user" and bool(entry.text.strip()) for entry in entries)


def _chain(before: str, entry: Entry, mark: str) -> str:
    when = entry.timestamp.isoformat() if entry.timestamp else None
    return _hash([before, mark, when])


def _hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:40]
