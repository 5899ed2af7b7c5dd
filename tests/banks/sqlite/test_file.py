from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing

import pytest

from hindsight_core.banks.sqlite import bank_path, list_banks, open_sqlite
from hindsight_core.errors import BankError, ConfigError
from hindsight_core.memory import Query
from hindsight_core.services import Services
from hindsight_core.testing.banks import document

WRITER = """
import asyncio, sys
from pathlib import Path
from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.testing.banks import document

async def main(path, name, count):
    bank = SqliteBank("shop", Path(path))
    for n in range(int(count)):
        await bank.retain(document(f"{name}-{n}", f"{name} says number {n} twice", f"{name} {n}"))
        print(n, flush=True)
    await bank.close()

asyncio.run(main(*sys.argv[1:]))
"""


def writer(path, name, count):
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("bank_id", ["shop", "a/b c", "..", ".hidden", "a%2Fb", "Ünï", "x:y", "~"])
def test_every_id_has_its_own_file_and_is_listed_again(tmp_path, bank_id):
    path = bank_path(tmp_path, bank_id)
    assert path.parent == tmp_path
    path.touch()
    assert list_banks(tmp_path) == [bank_id]


def test_ids_that_no_file_name_can_hold(tmp_path):
    assert bank_path(tmp_path, "x" * 999) != bank_path(tmp_path, "x" * 998)
    assert len(bank_path(tmp_path, "é" * 999).name) < 255
    assert list_banks(tmp_path / "none") == []
    with pytest.raises(ConfigError, match="blank"):
        bank_path(tmp_path, " ")


async def test_a_private_file_that_is_made_when_first_used(tmp_path):
    path = tmp_path / "banks" / "shop.db"
    bank = open_sqlite(None, Services(), bank_id="shop", path=path)
    assert not path.exists()
    await bank.ensure()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    await bank.close()


async def test_reading_makes_no_file_and_writing_does(open_bank, tmp_path):
    bank = open_bank()
    assert await bank.recall(Query("prefetch")) == []
    assert (await bank.stats()).facts == 0
    assert (await bank.list_facts(state=None)).total == 0
    assert (await bank.list_documents()).total == 0
    assert await bank.get_fact("f") is None
    assert await bank.get_document("d") is None
    assert [fact async for fact in bank.export_facts()] == []
    assert await bank.forgotten() == frozenset()
    assert list(tmp_path.iterdir()) == []
    await bank.retain(document("d1", "the queue prefetch is 20"))
    assert bank.path.exists()
    assert len(await bank.recall(Query("prefetch"))) == 1


async def test_a_file_that_goes_away_in_use_is_empty_until_written(open_bank, tmp_path):
    bank = open_bank()
    await bank.retain(document("d1", "the queue prefetch is 20"))
    for file in tmp_path.iterdir():
        file.unlink()
    assert await bank.recall(Query("prefetch")) == []
    assert not bank.path.exists()
    await bank.retain(document("d2", "the prefetch of the queue is 50"))
    assert [hit.fact.text for hit in await bank.recall(Query("prefetch"))] == [
        "the prefetch of the queue is 50"
    ]


async def test_a_bank_that_another_process_makes_is_seen(open_bank):
    reader, writer = open_bank(), open_bank()
    assert await reader.recall(Query("prefetch")) == []
    await writer.retain(document("d1", "the queue prefetch is 20"))
    assert len(await reader.recall(Query("prefetch"))) == 1


async def test_a_file_that_cannot_be_looked_at_is_not_taken_for_none(tmp_path):
    (tmp_path / "banks").touch()
    bank = open_sqlite(None, Services(), bank_id="shop", path=tmp_path / "banks" / "shop.db")
    with pytest.raises(BankError, match=r"shop\.db"):
        await bank.recall(Query("x"))
    await bank.close()


async def test_a_corrupt_file_is_set_aside_with_a_message(open_bank, tmp_path, caplog):
    (tmp_path / "shop.db").write_bytes(b"SQLite format 3\x00" + os.urandom(9000))
    bank = open_bank()
    assert (await bank.retain(document("d1", "still works"))).outcome == "stored"
    assert bank.set_aside.exists()
    assert [r for r in caplog.records if str(bank.set_aside) in r.message and "import" in r.message]


async def test_a_newer_file_is_refused_untouched(open_bank, tmp_path):
    first = open_bank()
    await first.ensure()
    await first.close()
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(BankError, match="newer version") as refused:
        await open_bank().recall(Query("x"))
    assert not refused.value.retryable


@pytest.mark.spec("br/BR-14")
async def test_a_lock_held_too_long_is_an_error_to_try_again(open_bank, tmp_path):
    bank = open_bank(busy_ms=20)
    await bank.retain(document("d1", "readers do not wait"))
    with closing(sqlite3.connect(tmp_path / "shop.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BankError, match="locked") as busy:
            await bank.retain(document("d2", "writers do"))
        assert busy.value.retryable
        assert len(await bank.recall(Query("readers"))) == 1
        other.execute("ROLLBACK")
    assert (await bank.retain(document("d2", "writers do"))).outcome == "stored"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_folder_that_cannot_be_written_is_named(open_bank, tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(BankError, match=r"shop\.db"):
            await open_bank().ensure()
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.spec("br/BR-10", "br/BR-14")
async def test_processes_share_a_bank_and_see_each_other(open_bank, tmp_path):
    bank = open_bank()
    await bank.retain(document("own", "the first process stays open"))
    processes = [writer(tmp_path / "shop.db", name, 20) for name in ("anna", "bob", "carl")]
    for process in processes:
        await asyncio.to_thread(process.communicate)
        assert process.returncode == 0
    assert (await bank.stats()).facts == 121
    hits = await bank.recall(Query("bob 7"))
    assert {hit.fact.text for hit in hits[:2]} == {"bob says number 7 twice", "bob 7"}
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM words").fetchone() == (121,)


@pytest.mark.spec("br/BR-10")
async def test_a_killed_writer_leaves_whole_transactions(open_bank, tmp_path):
    process = writer(tmp_path / "shop.db", "kim", 100_000)
    acknowledged = [await asyncio.to_thread(process.stdout.readline) for _ in range(25)]
    process.kill()
    rest = await asyncio.to_thread(process.communicate)
    done = len(acknowledged) + len(rest[0].split())
    bank = open_bank()
    stats = await bank.stats()
    assert stats.facts == 2 * stats.documents
    assert stats.documents in (done, done + 1)
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")


def test_words_alone_need_neither_numpy_nor_pydantic():
    code = (
        "import asyncio, sys, tempfile; from pathlib import Path\n"
        "from hindsight_core.banks.sqlite import SqliteBank\n"
        "from hindsight_core.memory import Document, Fact, Query\n"
        "async def main(folder):\n"
        "    bank = SqliteBank('b', Path(folder) / 'b.db')\n"
        "    await bank.retain(Document('d', 't', (Fact('f', 'a fact'),)))\n"
        "    assert await bank.recall(Query('fact'))\n"
        "    await bank.close()\n"
        "with tempfile.TemporaryDirectory() as folder: asyncio.run(main(folder))\n"
        "heavy = {'numpy', 'pydantic', 'httpx', 'jinja2', 'rich', 'click'} & sys.modules.keys()\n"
        "sys.exit(', '.join(heavy) if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
