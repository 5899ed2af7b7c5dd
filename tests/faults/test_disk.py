"""A disk that is full or cannot be written."""

from __future__ import annotations

import errno
import subprocess
import time

import pytest

from hindsight_core.errors import StorageError, StorageNewer
from hindsight_core.memory import Document
from hindsight_core.state.outbox import Outbox
from hindsight_core.state.queue import Queue
from hindsight_core.testing.memory_bank import FakeBank


def fill(folder) -> None:
    with (folder / "ballast").open("wb", buffering=0) as ballast:
        for size in (65536, 4096, 1):
            try:
                while True:
                    ballast.write(b"x" * size)
            except OSError as error:
                assert error.errno == errno.ENOSPC


@pytest.mark.spec("br/BR-76")
async def test_a_full_disk_is_said_and_loses_nothing(small_disk):
    bank, queue = FakeBank("shop"), Queue(small_disk / "queue.db")
    outbox = Outbox(queue)
    await queue.enqueue("shop", Document("before", "text"))
    fill(small_disk)
    with pytest.raises(StorageError, match=r"full|Check the disk") as caught:
        for number in range(200):
            await queue.enqueue("shop", Document(f"large{number}", "x" * 100_000))
    assert str(small_disk) in str(caught.value)
    acknowledged = {row.document_id for row in await queue.rows(limit=1000)}
    assert "before" in acknowledged
    (small_disk / "ballast").unlink()
    await queue.enqueue("shop", Document("after", "text"))
    report = await outbox.drain(bank, deadline_s=20)
    stored = {d.id for d in (await bank.list_documents(limit=1000)).documents}
    assert stored == acknowledged | {"after"}
    assert report.pending == 0
    queue.close()


@pytest.mark.spec("br/BR-76")
async def test_a_disk_full_from_the_start_is_said(small_disk):
    fill(small_disk)
    queue = Queue(small_disk / "queue.db")
    with pytest.raises(StorageError, match=r"full|Check the disk|Free space"):
        await queue.enqueue("shop", Document("d", "text"))
    queue.close()
    (small_disk / "ballast").unlink()
    queue = Queue(small_disk / "queue.db")
    assert (await queue.enqueue("shop", Document("d", "text"))).outcome == "queued"
    queue.close()


@pytest.mark.spec("br/BR-76")
@pytest.mark.parametrize("existing", [True, False])
async def test_a_read_only_home_is_said_at_once(small_disk, existing):
    if existing:
        queue = Queue(small_disk / "queue.db")
        await queue.enqueue("shop", Document("before", "text"))
        queue.close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    queue = Queue(small_disk / "queue.db")
    start = time.monotonic()
    with pytest.raises(StorageError, match="HINDSIGHT_MEM_HOME") as caught:
        await queue.enqueue("shop", Document("d", "text"))
    assert time.monotonic() - start < 4, "a permanent error is not waited for"
    assert str(small_disk) in str(caught.value)
    queue.close()


async def test_a_newer_queue_is_refused_with_the_reason(tmp_path):
    queue = Queue(tmp_path / "queue.db")
    await queue.enqueue("shop", Document("d", "text"))
    await queue.database.outside(lambda c: c.execute("PRAGMA user_version = 99").fetchall())
    queue.close()
    queue = Queue(tmp_path / "queue.db")
    with pytest.raises(StorageNewer, match="Upgrade hindsight-core"):
        await queue.enqueue("shop", Document("e", "text"))
    queue.close()


async def test_a_corrupt_queue_gives_back_what_can_be_read(tmp_path):
    queue, bank = Queue(tmp_path / "queue.db"), FakeBank("shop")
    for number in range(300):
        await queue.enqueue("shop", Document(f"d{number:03d}", "x" * 2000))
    await queue.move_cursor("shop", "S", "e7")
    queue.close()
    path = tmp_path / "queue.db"
    damaged = bytearray(path.read_bytes())
    middle = len(damaged) // 2 // 4096 * 4096
    damaged[middle : middle + 4096] = b"\xff" * 4096
    path.write_bytes(damaged)
    queue = Queue(path)
    try:
        await Outbox(queue).drain(bank, deadline_s=20)
    except StorageError as error:
        assert "set aside as" in str(error)
        await Outbox(queue).drain(bank, deadline_s=20)
    stored = {d.id for d in (await bank.list_documents(limit=1000)).documents}
    assert len(stored) >= 295
    assert {"d000", "d299"} <= stored
    assert await queue.cursor("shop", "S") == "e7"
    assert queue.database.set_aside.exists()
    queue.close()
