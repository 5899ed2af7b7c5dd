"""What active memory has kept in its own file of vectors (am/A-STORE-1, A-REC)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.config.paths import user_home
from hindsight_core.importing.bringing import bring, cleaned
from hindsight_core.importing.state.desk import Tally, read_object
from hindsight_core.memorize.lifecycle.origin import PROJECT, SCOPE, found_record
from hindsight_core.memorize.lifecycle.place import memory_project
from hindsight_core.memory import Fact, FactState, Provenance
from hindsight_core.state.life import LifeRecord
from hindsight_core.state.lives import LifeRecords
from hindsight_core.transcript.shapes import read_time

if TYPE_CHECKING:
    from hindsight_core.importing.filing import Place
    from hindsight_core.importing.state.desk import Desk
    from hindsight_core.memorize.lifecycle.decay import Moment
    from hindsight_core.runtime import Runtime

FILE = "active-memory/vectors.json"
_STATES: Mapping[str, FactState] = {"superseded": "superseded", "deleted": "invalidated"}
_GONE = "retired by the plugin before"
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Kept:
    """One of its memories.

    Attributes:
        fact: As ours.
        record: As it was kept.
    """

    fact: Fact
    record: Json


async def adopt(desk: Desk) -> Tally:
    """Take its memories over as facts, with how they stand; vectors are made anew."""
    tally = Tally("active memories")
    kept: list[_Kept] = []
    for path in _files(desk):
        try:
            rows = read_object(path).get("rows")
        except ValueError as error:
            tally.left.append(str(error))
            continue
        for number, row in enumerate(rows if isinstance(rows, list) else (), 1):
            record = row.get("record") if isinstance(row, dict) else None
            found = _read(record) if isinstance(record, dict) else None
            if found is None:
                tally.left.append(f"{path}, row {number}: no memory of a known form")
            else:
                kept.append(found)
    if kept:
        await _store(desk, kept, tally)
    return tally


def _files(desk: Desk) -> list[Path]:
    moved = desk.env.get("PI_CODING_AGENT_DIR", "").strip()
    homes = [Path(moved).expanduser()] if moved else []
    homes += [user_home(desk.env) / kind / "agent" for kind in (".pi", ".omp")]
    found = (home / FILE for home in dict.fromkeys(homes))
    return [path for path in found if path.exists()]


async def _store(desk: Desk, kept: list[_Kept], tally: Tally) -> None:
    """Each in its project's bank; a global one in every bank that is concerned here."""
    projects: dict[str, Place] = {}
    for folder in desk.folders:
        place = desk.place(folder)
        if place.bank is not None and place.loaded is not None:
            projects.setdefault(memory_project(place.loaded.project), place)
    banks: dict[str, tuple[Place, list[_Kept]]] = {}
    for item in kept:
        project = item.fact.metadata[PROJECT]
        places = [projects[project]] if project in projects else []
        if item.fact.metadata[SCOPE] == "global":
            places = list(projects.values())
        if not places:
            tally.left.append(
                f"a memory of {_where(item)}: no session of that project is kept here"
            )
        for place in places:
            banks.setdefault(str(place.bank), (place, []))[1].append(item)
    for bank, (place, items) in banks.items():
        await _into(desk, desk.runtime(place), bank, items, tally)


async def _into(desk: Desk, runtime: Runtime, bank: str, items: list[_Kept], tally: Tally) -> None:
    brought = await bring(runtime, bank, [item.fact for item in items], dry_run=desk.dry_run)
    tally.adopted += len(brought.stored)
    tally.known += brought.known
    if brought.refused:
        tally.left.append(f"{brought.refused} memories are no facts that may be stored")
    if desk.dry_run:
        return
    new = set(brought.stored)
    clean = ((item, cleaned(runtime, item.fact)) for item in items)
    records = {
        fact.id: _standing(runtime, fact, item.record)
        for item, fact in clean
        if fact is not None and fact.text in new
    }
    await LifeRecords(runtime.sessions.database, runtime.clock).change(
        bank, records, lambda fact_id: lambda before: before or records[fact_id]
    )


def _read(record: Json) -> _Kept | None:
    text, scope = record.get("text"), record.get("scope")
    if not isinstance(text, str) or not text.strip() or scope not in ("global", "project"):
        return None
    source = record.get("source")
    told: Json = source if isinstance(source, dict) else {}
    project = record.get("projectId")
    state = _STATES.get(str(record.get("status")), "valid")
    fact = Fact(
        id="",
        text=text,
        kind=str(record.get("kind") or "fact"),
        state=state,
        reason=_GONE if state == "invalidated" else None,
        timestamp=read_time(record.get("updatedAt")) or read_time(record.get("createdAt")),
        created_at=read_time(record.get("createdAt")),
        metadata={SCOPE: scope, PROJECT: project if isinstance(project, str) else ""},
        provenance=Provenance(
            source="active-memory",
            session_id=_text(told, "sessionId"),
            host="pi",
            speaker="assistant" if told.get("actor") == "assistant" else "user",
            quote=_text(told, "evidence"),
        ),
    )
    return _Kept(fact, record)


def _standing(runtime: Runtime, fact: Fact, record: Json) -> LifeRecord:
    """Its record here: what it had earned there, with a grace from today (am/A-LIFE-2)."""
    from hindsight_core.memorize.lifecycle.decay import Moment

    moment: Moment = Moment(runtime.clock())
    fresh = found_record(fact, runtime.settings, moment)
    source = record.get("source")
    told: Json = source if isinstance(source, dict) else {}
    feedback = record.get("feedback")
    answers: Json = feedback if isinstance(feedback, dict) else {}
    sanitise = runtime.sanitiser.text
    return replace(
        fresh,
        confidence=_part(record, "confidence", fresh.confidence),
        decay_rate=_part(record, "decayRate", fresh.decay_rate),
        priority=_part(record, "priority", fresh.priority),
        told=replace(
            fresh.told,
            cwd=_text(told, "cwd") or "",
            cause=sanitise(_text(told, "cause") or fresh.told.cause),
            reason=sanitise(_text(told, "reason") or fresh.told.reason),
        ),
        useful=_count(answers, "useful"),
        unhelpful=_count(answers, "unhelpful"),
    )


def _where(item: _Kept) -> str:
    source = item.record.get("source")
    cwd = source.get("cwd") if isinstance(source, dict) else None
    return str(cwd or item.fact.metadata[PROJECT] or "an unknown project")


def _part(record: Json, name: str, default: float) -> float:
    value = record.get(name)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value <= 1 else default  # type: ignore[operator, arg-type]


def _count(record: Json, name: str) -> int:
    value = record.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _text(record: Json, name: str) -> str | None:
    value = record.get(name)
    return value if isinstance(value, str) and value.strip() else None
