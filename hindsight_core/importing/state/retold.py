"""A write that was meant for a server which finds facts itself, for a bank that does not."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from hindsight_core.errors import StorageError
from hindsight_core.transcript.entry import Entry, Text, Window
from hindsight_core.transcript.wire import content_id, entry_from_wire

if TYPE_CHECKING:
    from hindsight_core.memorize.report import MemorizeReport
    from hindsight_core.runtime import Runtime

HOST = "pi"


async def retell(
    runtime: Runtime, bank: str, content: object, *, name: str, when: datetime | None
) -> MemorizeReport | None:
    """Memorize what was said in it; None when nothing was.

    Args:
        runtime: The project's configuration.
        bank: Where it goes.
        content: Messages as a list or as its JSON, or a text that a person wanted kept.
        name: Of the document that it was to become.
        when: When it was written.

    Raises:
        HindsightError: It could not be memorized; nothing is lost where it came from.
    """
    memorizer = runtime.memorizer_of(bank)
    entries = _entries(content, when)
    if entries:
        window = Window(name, HOST, entries, reason="import")
        report = await memorizer.run(window)
    elif isinstance(content, str) and content.strip():
        report = await memorizer.retain_note(content, source="agent-note", host=HOST)
    else:
        return None
    runtime.record(report, session=name, bank=bank)
    if report.outcome == "failed":
        raise StorageError(report.reason or "it could not be memorized")
    return report


def _entries(content: object, when: datetime | None) -> tuple[Entry, ...]:
    if isinstance(content, str):
        try:
            content = json.loads(content)
        except (ValueError, RecursionError):
            return ()
    if not isinstance(content, list):
        return ()
    found: list[Entry] = []
    for message in content:
        previous = found[-1].id if found else None
        if isinstance(message, str):
            text = (Text(message),)
            found.append(Entry(content_id(message, previous), "user", text, previous, when))
            continue
        entry, _ = entry_from_wire(message, previous=previous)
        if entry is not None:
            found.append(replace(entry, timestamp=entry.timestamp or when))
    return tuple(found)
