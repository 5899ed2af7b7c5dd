"""What waits for a person in pi-hindsight's review queue (pi/Q-01, Q-04, Q-05)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.config.paths import user_home
from hindsight_core.importing.state.desk import Tally
from hindsight_core.state.review import ReviewQueue, Written
from hindsight_core.transcript.shapes import read_time

if TYPE_CHECKING:
    from hindsight_core.importing.state.desk import Desk
    from hindsight_core.runtime import Runtime

FILES = (".pi/hindsight/review-queue.jsonl", ".omp/hindsight/review-queue.jsonl")
BACKEND = "hindsight"
Event = Mapping[str, Any]


async def adopt(desk: Desk) -> Tally:
    """Put before the person here what was put before them there and is not decided."""
    tally = Tally("reviews that wait")
    configured = desk.env.get("HINDSIGHT_REVIEW_QUEUE", "").strip()
    paths = [Path(configured)] if configured else [user_home(desk.env) / name for name in FILES]
    for path in paths:
        for event in _pending(path).values():
            await _item(desk, event, tally)
    return tally


def _pending(path: Path) -> dict[str, Event]:
    """The last add of each document without a decision after it; broken lines say nothing."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return {}
    found: dict[str, Event] = {}
    for line in lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(event, dict) or not isinstance(event.get("docId"), str):
            continue
        if event.get("ev") == "add":
            found[event["docId"]] = event
        elif event.get("ev") == "done":
            found.pop(event["docId"], None)
    return found


async def _item(desk: Desk, event: Event, tally: Tally) -> None:
    project, document = _text(event, "project"), _text(event, "docId")
    place = desk.place(Path(project)) if project else None
    if place is None or place.bank is None:
        # It can be decided on wherever its project is: the bank is named in it.
        place = desk.place(Path.cwd())
    if place.bank is None:
        tally.left.append(f"review of {document}: {place.reason}")
        return
    runtime = desk.runtime(place)
    when = read_time(event.get("ts"))
    days = runtime.settings.review.auto_approve_days
    if when is not None and days > 0 and when < runtime.clock() - timedelta(days=days):
        return
    written = Written(
        bank=_text(event, "bank"),
        document_id=document,
        backend=BACKEND,
        endpoint=_text(event, "baseUrl"),
        project=Path(project).name,
        language=_text(event, "language"),
        reason=_text(event, "reason"),
        host="pi",
    )
    if not written.bank or await _is_known(runtime, written):
        tally.known += 1
        return
    tally.adopted += 1
    if not desk.dry_run:
        moment = (when or runtime.clock()).timestamp()
        await ReviewQueue(runtime.queue, runtime.clock).add(written, at=moment)


async def _is_known(runtime: Runtime, written: Written) -> bool:
    """Whether it waits here, or was decided on here."""
    found = await runtime.queue.database.read(
        lambda c: c.execute(
            "SELECT 1 FROM review WHERE bank = ? AND document_id = ?",
            (written.bank, written.document_id),
        ).fetchone()
    )
    return found is not None


def _text(event: Event, name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""
