"""A hit as a line for prompts and blocks: its text on one line, its date, its origin."""

from __future__ import annotations

from collections.abc import Iterable

from hindsight_core.memory import Hit
from hindsight_core.prompt_fields import FactLine
from hindsight_core.recall.clip import one_line

EVIDENCE = 3
"""Lines of evidence below an observation at most (s1/S-REC-7)."""


def fact_lines(hits: Iterable[Hit], *, with_bank: bool | None = None) -> tuple[FactLine, ...]:
    """Lines of hits, in their order.

    Args:
        hits: What was found.
        with_bank: Name the bank; None does so where there is more than one.
    """
    found = tuple(hits)
    several_banks = len({hit.bank for hit in found}) > 1 if with_bank is None else with_bank
    speakers = {hit.fact.provenance.speaker for hit in found} - {None}
    return tuple(
        _line(hit, with_bank=several_banks, with_speaker=len(speakers) > 1) for hit in found
    )


def _line(hit: Hit, *, with_bank: bool, with_speaker: bool) -> FactLine:
    origin = [hit.bank] if with_bank else []
    if with_speaker and hit.fact.provenance.speaker:
        origin.append(hit.fact.provenance.speaker)
    moment = hit.fact.timestamp or hit.fact.created_at
    return FactLine(
        text=one_line(hit.fact.text),
        id=hit.id,
        date=moment.date().isoformat() if moment else None,
        origin=", ".join(origin) or None,
        kind=hit.fact.kind,
        evidence=tuple(one_line(text) for text in hit.evidence[:EVIDENCE]),
        missing=hit.missing,
        changed=hit.changed,
    )
