"""A process that really writes: journal, window, queue, bank; it says on stdout what is durable.

    python worker.py HOME write SESSION [--entries N] [--die-at STATEMENT] [--flaky PERCENT]
    python worker.py HOME recover
    python worker.py HOME hold SECONDS FILE
    python worker.py HOME open

Every line on stdout follows the call that made it true: ``TURN <last entry>`` the journal has it,
``ACK <first> <last>`` the window is stored or queued, ``END`` a clean end.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import sqlite3
import sys
import time
from pathlib import Path

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.errors import BankError
from hindsight_core.identity import document_id, fact_id
from hindsight_core.memory import Document, Fact, Provenance
from hindsight_core.state.jobs import WindowMark
from hindsight_core.state.journal import Journal
from hindsight_core.state.outbox import Outbox
from hindsight_core.state.queue import Queue
from hindsight_core.state.sessions import SessionState
from hindsight_core.transcript.entry import Entry, Text


class Flaky(SqliteBank):
    """The embedded bank, away now and then."""

    percent = 0

    async def retain(self, document):
        if random.random() * 100 < self.percent:
            raise BankError("away for a moment")
        return await super().retain(document)


class Store:
    def __init__(self, home: Path, *, flaky: int = 0) -> None:
        self.queue = Queue(home / "queue.db")
        self.sessions = SessionState(home / "state.db", queue=self.queue)
        self.journal = Journal(self.queue)
        self.outbox = Outbox(self.queue)
        self.bank = Flaky("shop", home / "shop.db")
        self.bank.percent = flaky

    async def close(self) -> None:
        await self.bank.close()
        self.journal.close()
        self.sessions.close()
        self.queue.close()


def say(*words: object) -> None:
    print(*words, flush=True)


def name(session: str, number: int) -> str:
    return f"{session}.{number:05d}"


def window_document(session: str, entries: list[str]) -> Document:
    facts = [f"fact of {entry}" for entry in entries]
    return Document(
        id=document_id(session, entries[0], entries[-1], host="fault"),
        text="\n".join(f"- {fact}" for fact in facts),
        facts=tuple(
            Fact(id=fact_id(fact), text=fact, provenance=Provenance(session_id=session))
            for fact in facts
        ),
    )


async def store_window(store: Store, session: str, entries: list[str]) -> bool:
    mark = WindowMark(session, entries[-1], entry_ids=tuple(entries))
    receipt = await store.outbox.store(store.bank, window_document(session, entries), window=mark)
    if receipt.outcome == "failed":  # another process was quicker
        return False
    say("ACK", entries[0], entries[-1])
    await store.sessions.set_cursor("shop", session, entries[-1])
    return True


async def write(store: Store, session: str, total: int) -> None:
    await store.journal.lease("shop", session, host="fault")
    await recover(store, besides=session)
    path = [name(session, i) for i in range(1, total + 1)]
    last = 0
    while last < total:
        cursor = await store.sessions.cursor("shop", session)
        done = path.index(cursor) + 1 if cursor else 0
        last = min(total, max(done, last) + random.randint(1, 5))
        entries = [Entry(key, "user", (Text(f"text of {key}"),)) for key in path[:last]]
        await store.journal.append("shop", session, entries, host="fault")
        say("TURN", path[last - 1])
        if random.random() < 0.8 and done < last:
            await store_window(store, session, path[done:last])
    await store.journal.release("shop", session)
    say("END")


async def recover(store: Store, *, besides: str | None = None) -> None:
    await store.bank.ensure()
    for left in await store.journal.recoverable("shop"):
        await store_window(store, left.session_id, [entry.id for entry in left.entries])
    if besides is None:
        # A write under way in five killed processes looks like their murderer: a dead letter,
        # kept until a person retries it.
        given_up = (await store.queue.counts()).dead
        await store.queue.retry()
        report = await store.outbox.drain(store.bank, deadline_s=30, force=True)
        say("LEFT", report.pending, report.dead, await store.journal.pending("shop"), given_up)


def die_at(statement: int) -> None:
    """Kill this process at its n-th SQL statement, before or after it is executed."""
    left = [statement]

    class Dying(sqlite3.Connection):
        def execute(self, *args):
            left[0] -= 1
            if left[0] == 0 and random.random() < 0.5:
                os.kill(os.getpid(), signal.SIGKILL)
            result = super().execute(*args)
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

    real = sqlite3.connect
    sqlite3.connect = lambda *args, **named: real(*args, factory=Dying, **named)


def hold(seconds: float, file: Path) -> None:
    """Keep a file's write lock."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    say("HELD")
    time.sleep(seconds)
    connection.execute("COMMIT")
    connection.close()


async def run(options: argparse.Namespace) -> None:
    store = Store(options.home, flaky=options.flaky)
    if options.what == "write":
        await write(store, options.arguments[0], options.entries)
    elif options.what == "recover":
        await recover(store)
    else:
        await store.queue.counts()
        await store.sessions.mode("s")
        await store.bank.ensure()
        say("END")
    await store.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("what", choices=("write", "recover", "hold", "open"))
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--entries", type=int, default=150)
    parser.add_argument("--die-at", type=int)
    parser.add_argument("--flaky", type=int, default=0)
    options = parser.parse_args()
    if options.die_at:
        die_at(options.die_at)
    if options.what == "hold":
        hold(float(options.arguments[0]), Path(options.arguments[1]))
        return
    asyncio.run(run(options))


if __name__ == "__main__":
    sys.exit(main())
