"""How the facts of active memory stand: records that cannot be read, what is about to go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.doctor.findings import Finding

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime

NAME = "memories"


async def memories(runtime: Runtime) -> list[Finding]:
    """Nothing where facts do not decay."""
    if not runtime.settings.lifecycle.enabled:
        return []
    from hindsight_core.memorize.lifecycle.decay import days_left
    from hindsight_core.state.lives import LifeRecords

    lives = LifeRecords(runtime.sessions.database, runtime.clock)
    found: list[Finding] = []
    if aside := await lives.set_aside(runtime.bank_id):
        said = f"{len(aside)} records could not be read and were set aside: {aside[0][1]}"
        advice = "Their facts are kept and begin anew; nothing else is needed."
        found.append(Finding(NAME, "warning", said, advice))
    held = (await lives.everything(runtime.bank_id)).values()
    active = [record for record in held if record.expired_at is None and not record.succeeded_by]
    left = [days_left(record, runtime.settings.lifecycle) for record in active]
    soon = sum(days == 1 for days in left)
    gone = sum(record.expired_at is not None for record in held)
    said = f"{len(active)} active, {soon} of them for one more unused day; {gone} retired"
    return [*found, Finding(NAME, "ok", said)]
