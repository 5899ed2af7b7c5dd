"""The order of an automatic retain, watched from inside of it (s1/S-RET-1)."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.testing.session import live_session
from hindsight_core.testing.transcripts import TranscriptBuilder

# The user's own command is asked between targets and enqueue: it notes what is on disk by then.
LOOK = """
import json, sqlite3, sys
job = json.load(sys.stdin)
queue = sqlite3.connect(sys.argv[1])
count = lambda table: queue.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
seen = {name: count(name) for name in ("jobs", "receipts", "retained", "left_out")}
with open(sys.argv[2], "a") as file:
    file.write(json.dumps({**seen, "text": job["document"]["text"], "bank": job["bank"]}) + "\\n")
"""


class Session:
    def __init__(self, new_memory: Any, folder: Path) -> None:
        self.seen = folder / "seen.jsonl"
        self.queue = folder / "memory-1" / "home" / "queue.db"
        command = [sys.executable, "-c", LOOK, str(self.queue), str(self.seen)]
        self.memory = new_memory(
            settings={
                "memorize": {"mode": ["transcript"], "every_turns": 1},
                "retain": {"before_enqueue": command, "before_enqueue_timeout_ms": 60_000},
            }
        )
        assert self.memory.runtime.loaded.paths.queue == self.queue
        self.live = live_session(self.memory.runtime, session_id="s1")
        self.talk = TranscriptBuilder()

    def turn(self, text: str) -> None:
        self.memory.run(self._turn(text))

    async def _turn(self, text: str) -> None:
        await self.live.turn_start("t", text, {"entries": self.talk.wire()}, limit_s=5)
        self.talk.user(text)
        self.talk.assistant("", thinking="nobody's business")
        self.talk.assistant(f"about {text}")
        await self.live.turn_end({"entries": self.talk.wire()})
        await asyncio.gather(*self.live.work._scheduled)

    def command(self, name: str) -> None:
        self.memory.run(self.live.commands.run(name, ""))

    @property
    def asked(self) -> list[dict[str, Any]]:
        lines = self.seen.read_text().splitlines() if self.seen.exists() else []
        return [json.loads(line) for line in lines]

    def count(self, table: str) -> int:
        def work(connection: Any) -> int:
            found: int = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            return found

        return self.memory.run(self.memory.runtime.queue.database.read(work))


@pytest.mark.spec("s1/S-RET-1")
def test_gate_opt_out_cursor_projection_target_enqueue_flush_receipt_cursor(
    new_memory: Any, tmp_path: Path
) -> None:
    session = Session(new_memory, tmp_path)
    session.command("hindsight:next-opt-out")
    session.turn("the word is heron")
    # The mode and the opt-out come first: nobody is asked, and the opt-out is spent.
    assert session.asked == []
    assert session.live.modes.choices.next_opt_out is False

    session.turn("the word is badger")
    [look] = session.asked
    # After the cursor and the projection: only what is new, and of it what is kept.
    assert "badger" in look["text"] and "heron" not in look["text"]
    assert "business" not in look["text"]
    # The target is chosen, and nothing of it is on disk.
    assert look["bank"] == session.memory.runtime.bank_id
    assert (look["jobs"], look["receipts"], look["retained"]) == (0, 0, 0)
    # Then it was enqueued with its cursor, sent, and the receipt took the job's place.
    assert (session.count("jobs"), session.count("receipts")) == (0, 1)
    assert session.count("retained") == 3

    session.turn("the word is otter")
    assert "badger" not in session.asked[1]["text"]
    assert session.asked[1]["retained"] == 3
    assert session.count("receipts") == 2


@pytest.mark.spec("s1/S-RET-6")
def test_what_the_command_refuses_is_left_in_no_file(new_memory: Any, tmp_path: Path) -> None:
    """Not in the journal, nor in free pages or in the write-ahead log."""
    home = tmp_path / "memory-1" / "home"
    refuse = "import sys; sys.exit('heron' in sys.stdin.read())"
    memory = new_memory(
        settings={
            "memorize": {"mode": ["transcript"], "every_turns": 1},
            "retain": {
                "before_enqueue": [sys.executable, "-c", refuse],
                "before_enqueue_timeout_ms": 60_000,
            },
        }
    )
    live, talk = live_session(memory.runtime, session_id="s1"), TranscriptBuilder()

    async def turn(text: str) -> None:
        talk.user(text)
        talk.assistant("I see.")
        await live.turn_end({"entries": talk.wire()})
        await asyncio.gather(*live.work._scheduled)

    memory.run(turn("the word is otter"))
    memory.run(turn("the word is heron"))

    def holding(word: str) -> list[str]:
        files = [path for path in home.rglob("*") if path.is_file()]
        return [path.name for path in files if word.encode() in path.read_bytes()]

    assert holding("word is otter")
    assert holding("word is heron") == []
