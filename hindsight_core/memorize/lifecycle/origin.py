"""A record for a fact that has none: from what the bank knows of it (am/A-STORE-6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.memorize.lifecycle.decay import Moment, graced
from hindsight_core.state.life import LifeRecord, Told

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Fact

SCOPE = "memory_scope"
PROJECT = "memory_project"
BEFORE = "legacy_memory_migration"
WHY_BEFORE = "Stored before its cause and the reason for keeping it were recorded."


def found_record(fact: Fact, settings: Settings, moment: Moment) -> LifeRecord:
    """Its record from now on; nothing is held against it (am/A-LIFE-2)."""
    origin, rules = fact.provenance, settings.lifecycle
    by_assistant = origin.speaker == "assistant"
    told = Told(
        actor="assistant" if by_assistant else "user",
        session_id=origin.session_id or "unknown",
        cause=BEFORE,
        reason=WHY_BEFORE,
        evidence=origin.quote,
    )
    is_global = fact.metadata.get(SCOPE) == "global"
    record = LifeRecord(
        told,
        scope="global" if is_global else "project",
        project="" if is_global else fact.metadata.get(PROJECT, ""),
        confidence=rules.initial_confidence,
        decay_rate=rules.initial_decay_rate,
        priority=settings.investigation.priority if by_assistant else 1.0,
        created_at=fact.created_at or fact.timestamp or moment.at,
    )
    return graced(record, rules, moment) if rules.enabled else record
