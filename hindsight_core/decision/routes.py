"""Where one round reads or writes, and how that was decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hindsight_core.decision.ladder import Attempt

NO_INJECT, NO_BANKS = "decision-no-inject", "decision-no-banks"
Phase = Literal["recall", "retain"]


@dataclass(frozen=True, slots=True)
class Decided:
    """One round of the decision layer (s1/S-TEL-2).

    Attributes:
        phase: Which of the two calls.
        banks: Where it goes, in the order of the banks.
        reason: Who answered, or ``disabled``, ``no-model``, ``backends-failed``,
            ``no-candidates``.
        skip: ``decision-no-inject`` or ``decision-no-banks`` when nothing is read.
        fallback: Nobody answered; the configured fallback counts.
        backend: Who answered.
        attempt: On which rung, from 1; 0 when nobody was asked.
        cached: An answer of a moment ago.
        offered: Ids of the questions.
        dropped: Banks that an answer named and that nobody offered, or that are gone.
        failed: Rungs that did not answer.
    """

    phase: Phase
    banks: tuple[str, ...]
    reason: str
    skip: str | None = None
    fallback: bool = False
    backend: str | None = None
    attempt: int = 0
    cached: bool = False
    offered: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    failed: tuple[Attempt, ...] = ()
