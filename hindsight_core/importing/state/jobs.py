"""Writes that s1enhanced had not delivered: its queue and its dead letters (s1/S-Q)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.banks.records import read_metadata
from hindsight_core.importing.state.desk import Tally
from hindsight_core.importing.state.retold import retell
from hindsight_core.memory import Document
from hindsight_core.state.claims import bury
from hindsight_core.transcript.shapes import plain_text, read_time

if TYPE_CHECKING:
    from hindsight_core.importing.filing import Place
    from hindsight_core.importing.state.desk import Desk
    from hindsight_core.runtime import Runtime

QUEUE, DEAD = "retain-queue.jsonl", "retain-queue.dead.jsonl"
GIVEN_UP = "given up by the plugin before"
Job = Mapping[str, Any]


async def adopt(desk: Desk) -> Tally:
    """Queue what waited, and keep what was given up as dead letters."""
    tally = Tally("queued writes")
    # A later write of the same document takes the place of one that was given up.
    for name in (DEAD, QUEUE):
        for folder, path in desk.kept(name):
            place = desk.place(folder)
            for number, line, job in _lines(path, tally):
                if place.bank is None:
                    tally.left.append(f"{path}, line {number}: {place.reason}")
                    continue
                await _job(desk, place, line, job, tally)
    return tally


def _lines(path: Path, tally: Tally) -> Iterator[tuple[int, str, Job]]:
    try:
        text = path.read_text("utf-8", "replace")
    except OSError as error:
        tally.left.append(f"{path} cannot be read: {error.strerror or error}")
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            job = json.loads(line)
            if not isinstance(job["item"], dict) or not isinstance(job["bankId"], str):
                raise TypeError
        except (ValueError, TypeError, KeyError, RecursionError):
            tally.left.append(f"{path}, line {number}: no write of that queue; it stays there")
            continue
        yield number, line, job


async def _job(desk: Desk, place: Place, line: str, job: Job, tally: Tally) -> None:
    runtime = desk.runtime(place)
    bank = _bank(place, str(job["bankId"]))
    # A try counts up in the line; what is to be written is the same.
    content = json.dumps([bank, job.get("documentId"), job["item"]], sort_keys=True)
    if not await desk.once(runtime, bank, "write", content):
        tally.known += 1
        return
    tally.adopted += 1
    if desk.dry_run:
        return
    if runtime.open_bank(bank).capabilities.extracts:
        await _queue(runtime, bank, job)
    else:
        await retell(runtime, bank, job["item"].get("content"), name=_name(job), when=_when(job))
    await desk.note(runtime, bank, "write", content)


def _bank(place: Place, named: str) -> str:
    """The plugin's own name for a project's bank means the project's bank here."""
    aliases = place.loaded.bank.aliases if place.loaded else ()
    return str(place.bank) if named in aliases else named


async def _queue(runtime: Runtime, bank: str, job: Job) -> None:
    result = await runtime.queue.enqueue(bank, _document(runtime, job))
    if job.get("deadLetteredAt") and result.job_id is not None:
        number, reason = result.job_id, str(job.get("lastError") or GIVEN_UP)
        now = runtime.clock().timestamp()
        reason = runtime.sanitiser.redact(reason)
        await runtime.queue.database.write(lambda c: bury(c, number, reason, now=now))


def _document(runtime: Runtime, job: Job) -> Document:
    item = job["item"]
    scopes = item.get("observationScopes")
    document = Document(
        id=_name(job),
        text=_text(item.get("content")),
        context=item["context"] if isinstance(item.get("context"), str) else None,
        tags=_texts(item.get("tags")),
        metadata=read_metadata(item.get("metadata")),
        timestamp=_when(job),
        entities=_texts(item.get("entities")),
        observation_scopes=tuple(map(_texts, scopes)) if isinstance(scopes, list) else (),
    )
    return runtime.sanitiser.document(document, limit=runtime.settings.security.max_fact_characters)


def _name(job: Job) -> str:
    """The document; what was to be added to one becomes one of its own beside it."""
    own = str(job.get("documentId") or job.get("id") or "write")
    if job.get("updateMode") != "append":
        return own
    digest = hashlib.sha256(_text(job["item"].get("content")).encode("utf-8", "replace"))
    return f"{own}-{digest.hexdigest()[:16]}"


def _when(job: Job) -> Any:  # noqa: ANN401 - a moment or None
    return read_time(job["item"].get("timestamp")) or read_time(job.get("createdAt"))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    return plain_text(content) or json.dumps(content, ensure_ascii=False)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()
