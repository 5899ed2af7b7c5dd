"""Which hits may be sent at all: gates in code, before a judge sees any of them (am/A-RECALL)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from hindsight_core.memory import Hit
from hindsight_core.recall.steer.known import Known

if TYPE_CHECKING:
    from hindsight_core.config.settings.capture import Steer

Gate = Literal["frequency", "source-context", "vector-score", "age", "rank"]
LIKENESS = ("vectors", "semantic")
"""Parts of a score that are a cosine; a bank without one is not held to a floor for it."""
MIN_PASSAGE = 8
_STRAIGHT = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'"})


@dataclass(frozen=True, slots=True)
class Ranked:
    """A hit that passed, with its standing."""

    hit: Hit
    known: Known
    rank: float


@dataclass(frozen=True, slots=True)
class Selected:
    """What passed, best first, and what did not, each with the gate that held it."""

    kept: tuple[Ranked, ...]
    held: tuple[tuple[Hit, Gate], ...] = ()


def normalised(text: str) -> str:
    """Lower case, straight apostrophes, single spaces (am/A-CAP step 4)."""
    return " ".join(text.lower().translate(_STRAIGHT).split())


def likeness(hit: Hit) -> float:
    """How near the query it is: the cosine where the bank tells one, else its score."""
    return next((hit.parts[part] for part in LIKENESS if part in hit.parts), hit.score)


def rank(hit: Hit, known: Known) -> float:
    """Likeness, weighed with authority and confidence (am/A-RANK)."""
    return likeness(hit) * known.weight


def select(
    hits: Sequence[Hit],
    known: Mapping[str, Known],
    *,
    settings: Steer,
    context: str,
    session_id: str,
    suppressed: frozenset[str],
    now: datetime,
) -> Selected:
    """Apply the gates in the order of am/A-RECALL, steps 5 and 6.

    Args:
        hits: What was found; each has its standing in ``known``.
        known: Standing by hit id.
        settings: Floor, age and number.
        context: What is before the model.
        session_id: This session.
        suppressed: Ids that were sent lately or often enough.
        now: Aware UTC now.
    """
    before_the_model = normalised(context)
    gates: tuple[tuple[Gate, Callable[[Hit], bool]], ...] = (
        ("frequency", lambda hit: hit.id in suppressed),
        ("source-context", lambda hit: _is_said(known[hit.id], before_the_model)),
        ("vector-score", lambda hit: _is_far(hit, settings.min_vector_score)),
    )
    passed, held = _through(hits, gates)
    ranked = [Ranked(hit, known[hit.id], rank(hit, known[hit.id])) for hit in passed]
    ranked.sort(key=lambda item: -item.rank)
    young = timedelta(minutes=settings.minimum_memory_age_minutes)
    old = [item for item in ranked if not _is_recent(item.known, session_id, now=now, young=young)]
    old_ids = {item.hit.id for item in old}
    held += [(item.hit, "age") for item in ranked if item.hit.id not in old_ids]
    held += [(item.hit, "rank") for item in old[settings.top_k :]]
    return Selected(tuple(old[: settings.top_k]), tuple(held))


def _through(
    hits: Sequence[Hit], gates: Sequence[tuple[Gate, Callable[[Hit], bool]]]
) -> tuple[list[Hit], list[tuple[Hit, Gate]]]:
    passed: list[Hit] = []
    held: list[tuple[Hit, Gate]] = []
    for hit in hits:
        gate = next((name for name, holds in gates if holds(hit)), None)
        if gate is None:
            passed.append(hit)
        else:
            held.append((hit, gate))
    return passed, held


def _is_said(known: Known, context: str) -> bool:
    passages = (normalised(text) for text in known.said)
    return any(len(passage) >= MIN_PASSAGE and passage in context for passage in passages)


def _is_far(hit: Hit, floor: float) -> bool:
    told = any(part in hit.parts for part in LIKENESS)
    return told and likeness(hit) < floor


def _is_recent(known: Known, session_id: str, *, now: datetime, young: timedelta) -> bool:
    own = known.session_id is not None and known.session_id == session_id
    return own and known.created_at is not None and now - known.created_at < young
