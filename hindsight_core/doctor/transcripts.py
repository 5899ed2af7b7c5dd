"""Whether the session files of agents are still of the form that their readers know."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from hindsight_core.doctor.findings import Finding

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.runtime import Runtime

NAME = "transcripts"
SESSIONS = 200
# An agent's next version brings a new kind of record now and then; this many are another form.
TOO_MANY = 0.2
ADVICE = (
    "What such records say is not memorized. Install a newer hindsight-host-generic, and report "
    "the agent's version if there is none."
)


async def transcripts(runtime: Runtime) -> list[Finding]:
    """One finding for each agent whose files had records of an unknown form lately."""
    read: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for host, memo in await runtime.sessions.database.read(_memos):
        read[host] += _count(memo.get("records"))
        unknown[host] += _count(memo.get("unknown"))
    findings = []
    for host, number in unknown.items():
        if not number or not read[host]:
            continue
        text = f"{host}: {number} of {read[host]} records are of a form that is not known"
        if number > TOO_MANY * read[host]:
            findings.append(Finding(NAME, "warning", text, ADVICE))
        else:
            findings.append(Finding(NAME, "ok", text))
    return findings


def _memos(connection: sqlite3.Connection) -> list[tuple[str, dict[str, object]]]:
    """Host and memo of the newest sessions whose events are processes."""
    rows = connection.execute(
        "SELECT host, memo FROM hook_sessions ORDER BY updated_at DESC LIMIT ?", (SESSIONS,)
    )
    found = []
    for host, text in rows:
        try:
            memo = json.loads(text)
        except ValueError:
            continue
        if isinstance(memo, dict):
            found.append((str(host), memo))
    return found


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
