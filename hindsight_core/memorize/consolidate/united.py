"""The record of a memory that stands for several (am/A-COMP-4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.memorize.lifecycle.decay import Moment, reinforced
from hindsight_core.memorize.lifecycle.feedback import newest
from hindsight_core.state.life import LifeRecord, Told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindsight_core.config.settings.capture import Lifecycle
    from hindsight_core.memorize.lifecycle.memory import Memory

CAUSE = "user_invoked_compaction"


def united(
    sources: Sequence[Memory], rules: Lifecycle, moment: Moment, *, cwd: str = ""
) -> LifeRecord:
    """The best of each, the history of all, and a clock that starts anew."""
    records = [memory.record for memory in sources]
    first = records[0]
    ids = [memory.fact.id for memory in sources]
    supersedes = [*ids, *(old for record in records for old in record.supersedes)]
    answers = sorted(
        (answer for record in records for answer in record.answers), key=lambda item: item.at
    )
    earlier = [told for memory in sources for told in _history(memory)]
    born = [record.created_at for record in records if record.created_at]
    told = Told(
        first.told.actor,
        session_id=moment.session_id or "unknown",
        cwd=cwd,
        cause=CAUSE,
        reason="the user let one sentence stand for them",
        evidence=",".join(ids),
    )
    record = LifeRecord(
        told,
        scope=first.scope,
        project=first.project,
        confidence=max(record.confidence for record in records),
        decay_rate=min(record.decay_rate for record in records),
        priority=max(record.priority for record in records),
        created_at=min(born) if born else moment.at,
        earlier=tuple(dict.fromkeys(earlier)),
        useful=sum(record.useful for record in records),
        unhelpful=sum(record.unhelpful for record in records),
        answers=newest(tuple(answers), rules.history_limit),
        supersedes=tuple(dict.fromkeys(supersedes)),
    )
    after = reinforced(record, moment, cause="consolidation")
    return after if rules.enabled else replace(after, decayed_on=None)


def _history(memory: Memory) -> tuple[Told, ...]:
    return (*memory.record.earlier, replace(memory.record.told, text=memory.fact.text))
