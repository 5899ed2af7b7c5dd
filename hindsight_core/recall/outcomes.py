"""What a turn's recall came to; empty, skipped, degraded and failed kept apart (pi/R-17, R-18)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.recall.floor import CALIBRATED
from hindsight_core.recall.mental_models import Shown, models_key
from hindsight_core.recall.merge import MIN_SCORE, Merged
from hindsight_core.turns import Block, Outcome, Plan, RecallOutcome, Searched, Turn

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Hit

NOTHING_FOUND = "the bank returned no facts"
ALL_SHOWN = "all of it is before the model already"
IRRELEVANT = "judged irrelevant"
WEAK = "nothing found is clearly about this"
JUDGE_FAILED = "the judge could not answer, its candidates were kept (degraded)"


def why_skipped(settings: Settings, turn: Turn) -> str | None:
    """Why there is no recall at all in this turn, or None (pi/R-01)."""
    if not settings.recall.enabled:
        return "automatic recall is off (recall.enabled)"
    if settings.recall.mode == "off":
        return "automatic recall is off (recall.mode)"
    if line_cap(settings, turn) == 0:
        return "no facts are wanted here (recall.child_max_lines)"
    return turn.skip


def line_cap(settings: Settings, turn: Turn) -> int:
    """Facts that this turn may show; a sub-agent's turn has a smaller cap."""
    cap = settings.recall.max_lines if turn.max_lines is None else max(0, turn.max_lines)
    return min(cap, settings.recall.child_max_lines) if turn.is_child else cap


def filter_is_off(settings: Settings, plan: Plan, hits: Sequence[Hit]) -> bool:
    """The user wants unjudged candidates.

    In plain mode too, of a bank that ranks by meaning; what was found by words alone must still
    be about the prompt, or everything is shown always (br/BR-32).
    """
    if settings.recall.filter != "off" or plan.degraded:
        return False
    return settings.recall.mode == "judged" or not any(CALIBRATED in hit.parts for hit in hits)


def query_texts(outcome: RecallOutcome) -> tuple[str, ...]:
    """What was searched for, each once."""
    return tuple(dict.fromkeys(searched.query.text for searched in outcome.searched))


def conclude(plan: Plan, searched: Sequence[Searched], merged: Merged) -> RecallOutcome:
    """The outcome before its block is made.

    A turn is empty only when every search was answered: where one failed and nothing was found,
    nobody knows whether there is something.
    """
    errors = [item.error for item in searched if item.error]
    outcome: Outcome = "empty"
    reason: str | None = None
    if merged.hits:
        outcome, reason = _with_hits(plan, searched)
    elif errors:
        outcome = "failed"
        reason = f"{len(errors)} of {len(searched)} searches failed: {errors[0]}"
    else:
        reason = _why_empty(plan, searched, merged)
    details = {"judge": "on" if plan.judge else "off"}
    if plan.degraded and plan.reason:
        details["degraded"] = plan.reason
    if errors and merged.hits:
        details["incomplete"] = errors[0]
    return RecallOutcome(
        outcome,
        reason=reason,
        hits=merged.hits,
        searched=tuple(searched),
        found=sum(item.found for item in searched),
        skipped_shown=merged.skipped_shown,
        skipped_filtered=merged.skipped_filtered,
        details=details,
    )


def placed(
    outcome: RecallOutcome, block: Block | None, *, models: Sequence[Shown] = ()
) -> RecallOutcome:
    """The outcome with its block; facts that a template left out were not injected (pi/R-21).

    Mental models alone are something to show too.
    """
    if models and block is not None:
        outcome = replace(outcome, also_shown=(models_key(models),))
        if outcome.outcome == "empty":
            return replace(outcome, outcome="injected", reason=None, block=block)
    if outcome.hits and (block is None or block.kind == "reminder"):
        why = "the template blocks/recall rendered nothing"
        return replace(outcome, outcome="empty", reason=why, hits=(), block=block)
    return replace(outcome, block=block)


def _with_hits(plan: Plan, searched: Sequence[Searched]) -> tuple[Outcome, str | None]:
    if plan.degraded:
        return "degraded", plan.reason
    if any(item.verdict and item.verdict.failed for item in searched):
        return "degraded", JUDGE_FAILED
    return "injected", None


def _why_empty(plan: Plan, searched: Sequence[Searched], merged: Merged) -> str:
    if not any(item.found for item in searched):
        reason = NOTHING_FOUND
    elif merged.skipped_shown:
        reason = ALL_SHOWN
    elif plan.judge:
        best = max((item.verdict.score for item in searched if item.verdict), default=0)
        reason = (
            IRRELEVANT if best == 0 else f"{IRRELEVANT} (best score {best}, {MIN_SCORE} needed)"
        )
    else:
        reason = WEAK
    return f"{reason}; {plan.reason}" if plan.degraded else reason
