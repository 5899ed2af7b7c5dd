"""Put before everything else of a process under test: dies at a statement, has a clock that jumps.

``FAULTS_DIE_AT=N``: SIGKILL at the N-th SQL statement, half of the time just before it, else just
after it. ``FAULTS_CLOCK=FILE``: the program's clock goes wrong by the seconds that stand in FILE.
"""

from __future__ import annotations

import os


def die_at(statement: int) -> None:
    import signal
    import sqlite3

    left = [statement]

    def step() -> bool:
        left[0] -= 1
        return left[0] == 0

    class Dying(sqlite3.Connection):
        def execute(self, *arguments):  # type: ignore[no-untyped-def]
            last = step()
            if last and statement % 2:
                os.kill(os.getpid(), signal.SIGKILL)
            result = super().execute(*arguments)
            if last:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

    real = sqlite3.connect
    sqlite3.connect = lambda *args, **named: real(*args, factory=Dying, **named)


def clock_of(file: str) -> None:
    from datetime import UTC, datetime, timedelta
    from pathlib import Path

    import hindsight_core.services as services

    def wrong() -> datetime:
        return datetime.now(UTC) + timedelta(seconds=float(Path(file).read_text()))

    services.utc_now = wrong


if number := os.environ.get("FAULTS_DIE_AT"):
    die_at(int(number))
if wanted := os.environ.get("FAULTS_CLOCK"):
    clock_of(wanted)
