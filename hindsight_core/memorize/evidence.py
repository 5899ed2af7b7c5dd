"""Which entries of a window support a fact: cheap, by the words they share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.memorize.lexicon import content_stems
from hindsight_core.transcript.entry import Text, ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindsight_core.memory import Fact
    from hindsight_core.transcript.entry import Entry, Window

MOST = 3
ENOUGH = 0.3
_READ = 8_000


def link(window: Window, facts: Sequence[Fact]) -> list[Fact]:
    """Facts with the entries that share most of their words, the speaker and the date.

    A fact that no entry supports well gets the date of the window's end and nothing else.
    """
    stems = [(entry, content_stems(_words(entry))) for entry in window.entries]
    return [_linked(fact, window, stems) for fact in facts]


def _linked(fact: Fact, window: Window, stems: Sequence[tuple[Entry, frozenset[str]]]) -> Fact:
    wanted = content_stems(fact.text)
    scored = [(len(wanted & have) / (len(wanted) or 1), entry) for entry, have in stems]
    best = sorted(
        (pair for pair in scored if pair[0] >= ENOUGH),
        key=lambda pair: (-pair[0], pair[1].role != "user"),
    )[:MOST]
    last = next((e.timestamp for e in reversed(window.entries) if e.timestamp), None)
    if not best:
        return fact if fact.timestamp else replace(fact, timestamp=last)
    said = [entry for _, entry in best if entry.role in ("user", "assistant")]
    speaker = said[0].role if said else None
    order = {entry.id: number for number, entry in enumerate(window.entries)}
    ids = sorted((entry.id for _, entry in best), key=order.__getitem__)
    provenance = replace(
        fact.provenance,
        entry_ids=tuple(ids),
        speaker=speaker,
    )
    moment = fact.timestamp or best[0][1].timestamp or last
    return replace(fact, provenance=provenance, timestamp=moment)


def _words(entry: Entry) -> str:
    parts = [part.text for part in entry.parts if isinstance(part, Text | ToolResult)]
    return "\n".join(parts)[:_READ]
