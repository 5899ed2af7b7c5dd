"""What an answer of the agent does to a record (am/A-FB-2, A-FB-3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.memorize.lifecycle.decay import Moment, advanced, clamp, reinforced

if TYPE_CHECKING:
    from hindsight_core.config.settings.capture import Lifecycle
    from hindsight_core.state.life import Answer, LifeRecord


def answered(
    record: LifeRecord, answer: Answer, rules: Lifecycle, moment: Moment, *, pinned: bool = False
) -> LifeRecord:
    """Move confidence and decay rate, keep the answer, then set the clock or let it run.

    A useful memory's clock starts anew; for an unhelpful one the pending days count at once, so
    that it may be retired by the answer.
    """
    useful = answer.outcome == "useful"
    delta = rules.useful_delta if useful else -rules.unhelpful_delta
    rate = record.decay_rate - (rules.decay_useful_delta if useful else 0)
    after = replace(
        record,
        confidence=clamp(
            record.confidence + delta, rules.minimum_confidence, rules.maximum_confidence
        ),
        decay_rate=clamp(rate, rules.minimum_decay_rate, rules.maximum_decay_rate),
        useful=record.useful + useful,
        unhelpful=record.unhelpful + (not useful),
        answers=newest((*record.answers, answer), rules.history_limit),
        updated_at=moment.at,
    )
    if not rules.enabled:
        return after
    if useful:
        return reinforced(after, moment, cause="useful_feedback")
    return advanced(after, rules, moment, pinned=pinned)


def newest(answers: tuple[Answer, ...], limit: int) -> tuple[Answer, ...]:
    """The last so many answers."""
    return answers[-limit:] if limit else ()
