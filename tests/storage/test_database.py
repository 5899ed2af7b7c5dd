from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from contextlib import closing

import pytest

from hindsight_core.errors import StorageBusy, StorageError, StorageNewer
from hindsight_core.storage import Database, Schema

ONE = Schema("test", ("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT);",))
TWO = Schema("test", (*ONE.migrations, "ALTER TABLE notes ADD COLUMN more TEXT;"))


@pytest.fixture
def opened():
    databases = []

    def make(path, schema=ONE, **options):
        databases.append(Database(path, schema, **options))
        return databases[-1]

    yield make
    for database in databases:
        database.close()


def add(text):
    return lambda c: c.execute("INSERT INTO notes (text) VALUES (?)", (text,)).lastrowid


def texts(connection):
    return [row[0] for row in connection.execute("SELECT text FROM notes ORDER BY id")]


def fill(path, rows=2000):
    database = Database(path, ONE)
    database.write_now(
        lambda c: (
            c.executemany(
                "INSERT INTO notes (text) VALUES (?)", [(f"{i} " + "x" * 100,) for i in range(rows)]
            ).rowcount
        )
    )
    database.close()


async def test_private_file_in_a_private_folder(tmp_path, opened):
    path = tmp_path / "home" / "test.db"
    await opened(path).write(add("a"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.with_name("test.db-wal").stat().st_mode) == 0o600


async def test_a_failing_transaction_leaves_nothing(tmp_path, opened):
    database = opened(tmp_path / "test.db")

    def half(connection):
        add("a")(connection)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await database.write(half)
    assert await database.read(texts) == []


async def test_readers_do_not_wait_for_a_writer_and_a_writer_says_who_is_in_the_way(
    tmp_path, opened
):
    path = tmp_path / "test.db"
    database = opened(path, busy_ms=20)
    await database.write(add("a"))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert await database.read(texts) == ["a"]
        with pytest.raises(StorageBusy, match="locked by another process"):
            await database.write(add("b"))
        other.execute("ROLLBACK")
    await database.write(add("b"))
    assert await database.read(texts) == ["a", "b"]


async def test_migration_keeps_rows_and_a_copy(tmp_path, opened):
    path = tmp_path / "test.db"
    await opened(path, ONE).write(add("a"))
    database = opened(path, TWO)
    assert await database.read(texts) == ["a"]
    with closing(sqlite3.connect(tmp_path / "test.db.v1.bak")) as copy:
        assert texts(copy) == ["a"]
        assert copy.execute("PRAGMA user_version").fetchone() == (1,)
    assert stat.S_IMODE((tmp_path / "test.db.v1.bak").stat().st_mode) == 0o600
    assert sorted(p.name for p in tmp_path.iterdir() if "part" in p.name) == []


async def test_a_failing_migration_changes_nothing(tmp_path, opened):
    path = tmp_path / "test.db"
    await opened(path, ONE).write(add("a"))
    broken = Schema("test", (*ONE.migrations, "CREATE TABLE more (id);\nCREATE TABLE notes (id);"))
    with pytest.raises(StorageError, match="already exists"):
        await opened(path, broken).read(texts)
    assert await opened(path, ONE).read(texts) == ["a"]
    assert await opened(path, TWO).read(texts) == ["a"]


async def test_a_newer_file_is_left_untouched(tmp_path, opened):
    path = tmp_path / "test.db"
    await opened(path, TWO).write(add("a"))
    opened(path).close()
    before = path.read_bytes()
    with pytest.raises(StorageNewer, match="format 2, this one knows 1"):
        await opened(path, ONE).write(add("b"))
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", ["garbage", "header", "truncated"])
async def test_a_corrupt_file_is_set_aside(tmp_path, opened, damage):
    path = tmp_path / "test.db"
    fill(path)
    whole = path.read_bytes()
    damaged = {
        "garbage": b"not a database at all" * 500,
        "header": b"\0" * 4096 + whole[4096:],
        "truncated": whole[: len(whole) // 3],
    }[damage]
    path.write_bytes(damaged)
    database = opened(path)
    # What is met on opening is dealt with there, what is met later at the call that meets it.
    try:
        await database.read(lambda c: c.execute("SELECT sum(length(text)) FROM notes").fetchone())
    except StorageError as error:
        assert "set aside as" in str(error)
    await database.write(add("new"))
    assert await database.read(texts) == ["new"]
    assert database.set_aside.read_bytes() == damaged


async def test_where_asked_a_corrupt_file_stays(tmp_path, opened):
    path = tmp_path / "test.db"
    path.write_bytes(b"not a database at all" * 500)
    with pytest.raises(StorageError, match="corrupt"):
        await opened(path, on_corrupt="raise").read(texts)
    assert path.read_bytes() == b"not a database at all" * 500


async def test_what_can_be_read_is_salvaged(tmp_path, opened):
    path = tmp_path / "test.db"
    fill(path)
    damaged = bytearray(path.read_bytes())
    middle = len(damaged) // 2 // 4096 * 4096
    damaged[middle : middle + 4096] = b"\xff" * 4096
    path.write_bytes(damaged)

    def copy(old, fresh):
        with closing(sqlite3.connect(old)) as connection:
            for number in (0, 1999):
                key = number + 1
                [row] = connection.execute("SELECT id, text FROM notes WHERE id = ?", (key,))
                fresh.execute("INSERT INTO notes VALUES (?, ?)", row)

    database = opened(path, salvage=copy)
    with pytest.raises(StorageError, match="set aside as"):
        await database.read(texts)
    assert [text.split()[0] for text in await database.read(texts)] == ["0", "1999"]


async def test_of_two_that_meet_a_corrupt_file_one_sets_it_aside(tmp_path, opened):
    path = tmp_path / "test.db"
    path.write_bytes(b"not a database at all" * 500)
    first, second = opened(path), opened(path)
    await first.write(add("a"))
    await second.write(add("b"))
    assert await first.read(texts) == ["a", "b"]
    assert len([p for p in tmp_path.iterdir() if ".corrupt-" in p.name]) == 1


async def test_an_open_database_follows_its_name(tmp_path, opened):
    path = tmp_path / "test.db"
    database = opened(path)
    await database.write(add("a"))
    aside = tmp_path / "aside"
    aside.mkdir()
    for file in tmp_path.glob("test.db*"):
        shutil.move(file, aside / file.name)
    await database.write(add("b"))
    assert await database.read(texts) == ["b"]
    assert await opened(aside / "test.db").read(texts) == ["a"]


async def test_a_torn_log_loses_only_what_is_torn(tmp_path, opened):
    path = tmp_path / "test.db"
    database = opened(path)
    for text in "abc":
        await database.write(add(text))
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    log = path.with_name("test.db-wal").read_bytes()
    copy.with_name("copy.db-wal").write_bytes(log[:-100])
    survivor = opened(copy)
    assert await survivor.read(texts) == ["a", "b"]
    assert await survivor.read(lambda c: c.execute("PRAGMA integrity_check").fetchone()) == ("ok",)


@pytest.mark.spec("br/BR-76")
@pytest.mark.parametrize("case", ["folder is a file", "is a folder"])
async def test_a_home_that_cannot_be_one_is_named_at_once(tmp_path, opened, case):
    path = tmp_path / "home" / "test.db"
    if case == "is a folder":
        path.mkdir(parents=True)
    else:
        path.parent.write_text("")
    with pytest.raises(StorageError, match=r"HINDSIGHT_MEM_HOME") as caught:
        await opened(path).write(add("a"))
    assert str(path) in str(caught.value)


@pytest.mark.spec("br/BR-76")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; see tests/faults")
async def test_a_read_only_home_is_named_at_once(tmp_path, opened):
    tmp_path.chmod(0o500)
    with pytest.raises(StorageError, match="HINDSIGHT_MEM_HOME"):
        await opened(tmp_path / "test.db").write(add("a"))
    tmp_path.chmod(0o700)


async def test_after_closing_there_is_an_error_of_ours(tmp_path, opened):
    database = opened(tmp_path / "test.db")
    database.close()
    with pytest.raises(StorageError, match="closed"):
        await database.read(texts)
