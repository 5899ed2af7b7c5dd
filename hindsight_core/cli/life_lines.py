"""How facts stand (confidence, feedback, decay) as lines of an export, out and in."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.banks.export_lines import Aside, export_line

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime
    from hindsight_core.state.life import LifeRecord, Told
    from hindsight_core.state.lives import LifeRecords
    from hindsight_core.transcript.sanitise import Sanitiser

LIFE = "life"


async def life_lines(runtime: Runtime) -> AsyncIterator[str]:
    """One line a fact that has a record; none where nothing was ever kept."""
    from hindsight_core.state.life import encode

    if not runtime.loaded.paths.state.exists():
        return
    for fact_id, record in (await records_of(runtime).everything(runtime.bank_id)).items():
        body = {"record": LIFE, "id": fact_id, "life": json.loads(encode(record))}
        yield export_line(body)


def read_life(line: Aside, sanitiser: Sanitiser) -> tuple[str, LifeRecord]:
    """Fact id and record of a line, sanitised.

    Raises:
        ValueError: It is no such line.
    """
    from hindsight_core.state.life import decode

    if line.kind != LIFE:
        raise ValueError(f"record {line.kind!r} is none of fact, document, forgotten, life")
    fact_id, body = line.body.get("id"), line.body.get("life")
    if not isinstance(fact_id, str) or not fact_id:
        raise ValueError("no id")
    try:
        record = decode(json.dumps(body))
    except ValueError:
        raise ValueError("life is no lifecycle record") from None
    answers = tuple(replace(a, reason=sanitiser.fact_text(a.reason)) for a in record.answers)
    earlier = tuple(_clean(told, sanitiser) for told in record.earlier)
    told = _clean(record.told, sanitiser)
    return fact_id, replace(record, told=told, earlier=earlier, answers=answers)


async def store_lives(runtime: Runtime, found: Sequence[tuple[str, LifeRecord]]) -> int:
    """Write records; how many were new or different."""
    return await records_of(runtime).put(runtime.bank_id, dict(found))


def records_of(runtime: Runtime) -> LifeRecords:
    """The records of this home."""
    from hindsight_core.state.lives import LifeRecords

    return LifeRecords(runtime.sessions.database, runtime.clock)


def _clean(told: Told, sanitiser: Sanitiser) -> Told:
    def line(text: str | None) -> str | None:
        return None if text is None else sanitiser.fact_text(text)

    return replace(
        told,
        reason=sanitiser.fact_text(told.reason),
        user_text=line(told.user_text),
        evidence=line(told.evidence),
        text=line(told.text),
    )
