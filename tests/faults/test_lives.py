"""Many processes change the record of one memory, and half of them are killed."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.identity import fact_id
from hindsight_core.memory import Fact
from hindsight_core.state.life import decode

RATER = Path(__file__).with_name("rater.py")
TEXT = "The user's favourite colour is orange."
WRITERS, KILLED, ANSWERS = 20, 10, 6
FOR_EVER = 1_000_000


@pytest.fixture
def raters(tmp_path):
    asyncio.run(_fill(tmp_path))
    running = [_start(tmp_path, n) for n in range(WRITERS)]
    yield running
    for process in running:
        process.kill()
        process.wait()


def _start(home: Path, number: int) -> subprocess.Popen[bytes]:
    answers = FOR_EVER if number < KILLED else ANSWERS
    with said(home, number).open("wb") as file:
        return subprocess.Popen(
            [sys.executable, str(RATER), str(home), fact_id(TEXT), f"s{number}", str(answers)],
            stdout=file,
            stderr=subprocess.STDOUT,
        )


def said(home: Path, number: int) -> Path:
    return home / f"rater-{number}.txt"


async def _fill(home: Path) -> None:
    bank = SqliteBank("shop", home / "shop.db")
    await bank.import_facts([Fact(fact_id(TEXT), TEXT)])
    await bank.close()


@pytest.mark.spec("am/A-STORE-3", "am/A-STORE-4")
@pytest.mark.timeout(120)
def test_twenty_writers_and_ten_kills_lose_no_answer(tmp_path, raters):
    files = [said(tmp_path, number) for number in range(WRITERS)]
    while not all(file.stat().st_size for file in files):  # every one is in the middle of it
        time.sleep(0.02)
    for process in raters[:KILLED]:
        process.kill()
    codes = [process.wait(100) for process in raters]
    assert codes == [-signal.SIGKILL] * KILLED + [0] * (WRITERS - KILLED), files[-1].read_text()
    lines = [line for file in files for line in file.read_text().splitlines()]
    acknowledged = [line.split()[1] for line in lines if line.startswith("ACK ") and len(line) > 39]
    assert len(acknowledged) >= KILLED + (WRITERS - KILLED) * ANSWERS

    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        [body] = connection.execute("SELECT body FROM lives").fetchone()
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    record = decode(body)
    tokens = [answer.token for answer in record.answers]
    assert set(acknowledged) <= set(tokens)
    assert len(tokens) == len(set(tokens)) == record.useful
    assert record.useful <= len(acknowledged) + KILLED
    assert record.confidence == pytest.approx(0.95)
    assert record.decay_rate == 0
