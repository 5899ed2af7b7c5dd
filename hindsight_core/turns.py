"""One turn of a conversation as recall sees it: what is asked, planned, found and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hindsight_core.memory import Hit, Query
from hindsight_core.transcript.entry import Entry

BlockKind = Literal["recall", "briefing", "reminder", "steer", "mental-model", "user"]
Outcome = Literal["injected", "empty", "skipped", "degraded", "failed"]
Boundary = Literal["none", "session", "task"]
Occasion = Literal["prompt", "steer"]


@dataclass(frozen=True, slots=True)
class Turn:
    """A user's prompt and what stood before it.

    Attributes:
        id: Given by the host.
        session_id: The session.
        prompt: The user's words, sanitised.
        entries: The active path before the prompt, sanitised, oldest first.
        banks: Ids of the banks to search, the project's first.
        shown: Normalised texts that are before the model already (pi/R-16).
        is_child: A sub-agent's turn: small recall, nothing automatic besides.
        max_lines: Cap on injected facts for this turn; None for the configured one.
        max_queries: The same for queries.
        boundary: A session or a task begins with it (pi/T-17), or none.
        injects: Facts go before the model; known when a reminder is asked for.
        skip: Why nothing is searched in this turn, where that was decided before it.
        occasion: ``steer`` looks for what helps in the middle of a run (spec am).
        context: The conversation as text, for a steer.
        suppressed: Facts (``bank:id``) that a steer may not send now.
        is_private: Nothing of it may be written down: its person left it out of memory.
    """

    id: str
    session_id: str
    prompt: str
    entries: tuple[Entry, ...] = ()
    banks: tuple[str, ...] = ()
    shown: frozenset[str] = frozenset()
    is_child: bool = False
    max_lines: int | None = None
    max_queries: int | None = None
    boundary: Boundary = "none"
    injects: bool = False
    skip: str | None = None
    occasion: Occasion = "prompt"
    context: str = ""
    suppressed: frozenset[str] = frozenset()
    is_private: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What to search for.

    Attributes:
        queries: Best first; empty means nothing is searched, and ``reason`` says why.
        reason: Why there is no query, or why the plan is a degraded one.
        degraded: Made without a model: words of the prompt only, no judge (pi/R-07).
        judge: Whether a judge shall look at the hits.
        floor: Whether hits that no judge saw must evidently be about their query.
        spare: Queries over the cap of an ordinary turn, best first; a deep pass may use them.
        reflect: The bank may answer the first query by itself (``recall.reflect``).
    """

    queries: tuple[Query, ...] = ()
    reason: str | None = None
    degraded: bool = False
    judge: bool = True
    floor: bool = True
    spare: tuple[Query, ...] = ()
    reflect: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's answer for one query.

    Attributes:
        score: 0..100; under 25 the whole query is dropped (pi/R-14).
        keep: The hits to keep, in their order.
        failed: The judge could not answer; the candidates were kept (pi/R-11).
        reason: Why, in the judge's words, where it gave any.
    """

    score: int
    keep: tuple[Hit, ...]
    failed: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Searched:
    """One query of one bank and what became of it, for the log and for ``explain``."""

    query: Query
    found: int = 0
    candidates: tuple[Hit, ...] = ()
    verdict: Verdict | None = None
    error: str | None = None
    bank: str | None = None
    dropped: tuple[tuple[Hit, str], ...] = ()
    """What the quality pass left out, each with its reason (s1/S-QP-1)."""
    away: bool = False
    """The bank may answer later; ``error`` says what it said."""
    raw: tuple[Hit, ...] = ()
    """What the bank gave, before the quality pass."""
    late: bool = False
    """The bank did not answer in time."""
    took_ms: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """Text for the model, wrapped by the core.

    Attributes:
        kind: What it is.
        text: Complete with its wrapper lines.
        memories: Pairs (``bank:id``, score) of the facts in it.
        display: A short form for the person.
        placement: Where a host should put it.
        position: In the context: after the user's message, before it (``append``) or first of all.
        id: What the person's display of it is known by; None where nothing refers to it.
    """

    kind: BlockKind
    text: str
    memories: tuple[tuple[str, float | None], ...] = ()
    display: str | None = None
    placement: Literal["context", "system", "message"] = "context"
    position: Literal["after", "append", "prepend"] = "after"
    id: str | None = None


@dataclass(frozen=True, slots=True)
class RecallOutcome:
    """The result of a turn's recall (pi/R-18).

    Attributes:
        outcome: ``injected``, ``empty`` (looked, nothing relevant), ``skipped`` (did not look),
            ``degraded`` (answered without a model) or ``failed``.
        reason: Why, for everything but ``injected``.
        hits: What goes before the model, best first.
        searched: Each query with its hits and verdict.
        found: How many hits the banks gave.
        skipped_shown: Left out because they are before the model already.
        skipped_filtered: Cut by the line cap.
        block: What to inject; None when nothing is.
        cap: The cap of facts that held for it; None for that of an ordinary turn.
        boundary: Whether a session or a task began with this turn.
        briefing: Prose made of the hits, which stands for them in the block.
        also_shown: Keys of what is in the block besides facts, for the shown-set.
    """

    outcome: Outcome
    reason: str | None = None
    hits: tuple[Hit, ...] = ()
    searched: tuple[Searched, ...] = ()
    found: int = 0
    skipped_shown: int = 0
    skipped_filtered: int = 0
    block: Block | None = None
    details: Mapping[str, str] = field(default_factory=dict)
    cap: int | None = None
    boundary: Boundary = "none"
    briefing: str | None = None
    also_shown: tuple[str, ...] = ()
