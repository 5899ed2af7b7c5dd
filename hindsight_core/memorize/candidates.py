"""What a window gives to the store: its facts in their final form, and its document."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.identity import fact_id
from hindsight_core.memorize.target import Target
from hindsight_core.state.jobs import WindowMark

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hindsight_core.memorize.parts import Parts
    from hindsight_core.memorize.sessions import Cut
    from hindsight_core.memory import Fact
    from hindsight_core.transcript.entry import Window


def complete(facts: Sequence[Fact], window: Window, parts: Parts) -> list[Fact]:
    """Facts as they are stored: bounded, safe, named by their text, dated, with an origin."""
    last = _last_moment(window)
    found: dict[str, Fact] = {}
    for fact in facts:
        clean = parts.sanitiser.fact(fact, limit=parts.fact_limit)
        if not clean.text:
            continue
        origin = clean.provenance
        origin = replace(
            origin,
            source="session-note" if origin.source == "unknown" else origin.source,
            session_id=origin.session_id or window.session_id,
            host=origin.host or window.host,
        )
        identity, said = fact_id(clean.text), clean.timestamp or last
        found[identity] = replace(clean, id=identity, timestamp=said, provenance=origin)
    return list(found.values())


def target_of(
    cut: Cut, window: Window, parts: Parts, *, replaces: frozenset[str] | None = None
) -> Target:
    """The document of a window (pi/M-18), with the window's end."""
    # A deliberate repetition is in other documents of its session, and shall be.
    compared = () if replaces is not None else cut.entry_ids
    return Target(
        document_id=cut.document_id,
        source="session-note",
        tags=(parts.bank.id, "agent-summary"),
        session_id=window.session_id,
        host=window.host,
        timestamp=_last_moment(window),
        window=WindowMark(window.session_id, cut.last_entry_id, compared),
        said=window,
        reason=window.reason,
        replaces=replaces,
    )


def _last_moment(window: Window) -> datetime | None:
    return next((e.timestamp for e in reversed(window.entries) if e.timestamp), None)
