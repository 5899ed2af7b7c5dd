from __future__ import annotations

import asyncio

import pytest

from hindsight_core.errors import BankError, StorageError
from hindsight_core.identity import document_id
from hindsight_core.memory import Document
from hindsight_core.state.outbox import Outbox
from hindsight_core.state.queue import Queue


def doc(key: str, text: str = "text", *, explicit: bool = False) -> Document:
    return Document(key, text, explicit=explicit)


async def fill(place, bank, *ids):
    for key in ids:
        await place.queue.enqueue(bank.id, doc(key))


async def test_stored_at_once_and_known_afterwards(place, bank):
    first = await place.outbox.store(bank, doc("d"), window=("S", "e3"))
    again = await place.again().outbox.store(bank, doc("d"), window=("S", "e3"))
    assert (first.outcome, again.outcome) == ("stored", "known")
    assert bank.stored == ["d"]
    assert await place.queue.pending() == 0


async def test_an_explicit_write_always_reaches_the_bank(place, bank):
    await place.outbox.store(bank, doc("d", explicit=True))
    await bank.delete_document("d")
    receipt = await place.outbox.store(bank, doc("d", explicit=True))
    assert receipt.outcome == "stored"
    assert bank.stored == ["d", "d"]


@pytest.mark.spec("pi/D-24")
async def test_away_is_queued_and_delivered_later(place, bank, clock, away):
    bank.failing = away
    receipt = await place.outbox.store(bank, doc("d"), window=("S", "e3"))
    assert (receipt.outcome, receipt.reason) == ("queued", "no connection")
    assert await place.sessions.cursor("shop", "S") == "e3"
    bank.failing = None
    clock.advance(600)
    report = await place.again().outbox.drain(bank, deadline_s=5)
    assert (report.sent, report.pending) == (1, 0)
    assert bank.stored == ["d"]


async def test_an_outage_never_makes_a_dead_letter(place, bank, clock, away):
    bank.failing = away
    await place.outbox.store(bank, doc("d"))
    for _ in range(20):
        clock.advance(3600)
        await place.outbox.drain(bank, deadline_s=5)
    counts = await place.queue.counts("shop")
    assert (counts.pending, counts.dead) == (1, 0)


@pytest.mark.parametrize("retryable", [True, False])
async def test_what_is_wrong_with_the_bank_is_no_documents_fault(place, bank, clock, retryable):
    bank.poison = {"full": BankError("disk full", retryable=retryable)}
    bank.poison["full"].__cause__ = StorageError("the disk is full")
    await fill(place, bank, "full", "next")
    for _ in range(10):
        clock.advance(3600)
        report = await place.outbox.drain(bank, deadline_s=5)
        assert (report.away, report.pending, report.dead) == (True, 2, 0)
    bank.poison = {}
    bank.failing = BankError("401", retryable=False)
    clock.advance(3600)
    assert (await place.outbox.drain(bank, deadline_s=5)).dead == 0
    bank.failing = None
    clock.advance(3600)
    assert (await place.outbox.drain(bank, deadline_s=5)).sent == 2


@pytest.mark.spec("s1/S-Q-4")
async def test_away_ends_the_drain_after_one_try(place, bank, away):
    await fill(place, bank, *"abcdefg")
    bank.failing = away
    report = await place.outbox.drain(bank, deadline_s=5)
    assert (report.away, report.sent, report.pending) == (True, 0, 7)
    assert [row.attempts for row in await place.queue.rows()] == [1, 0, 0, 0, 0, 0, 0]


@pytest.mark.spec("s1/S-Q-4")
async def test_bounds_of_a_drain(place, bank):
    await fill(place, bank, *"abc")
    nothing = await place.outbox.drain(bank, deadline_s=0)
    one = await place.outbox.drain(bank, deadline_s=5, max_jobs=1)
    assert (nothing.sent, nothing.pending) == (0, 3)
    assert (one.sent, one.pending, bank.stored) == (1, 2, ["a"])


@pytest.mark.spec("br/BR-29", "s1/S-Q-6")
async def test_poison_stops_and_blocks_nothing(place, bank, clock):
    bank.poison = {"500": BankError("500"), "422": BankError("422", retryable=False)}
    await fill(place, bank, "good1", "500", "422", "good2")
    first = await place.outbox.drain(bank, deadline_s=5)
    assert bank.stored == ["good1", "good2"]
    assert (first.sent, first.failed, first.pending, first.dead) == (2, 1, 1, 1)
    for _ in range(12):
        clock.advance(3600)
        await place.again().outbox.drain(bank, deadline_s=5)
    dead = {row.document_id: row.attempts for row in await place.queue.rows(state="dead")}
    assert dead == {"500": 5, "422": 1}
    assert bank.stored == ["good1", "good2"]


async def test_a_bank_that_raises_anything_is_isolated(place, bank):
    bank.poison = {"d": RuntimeError("a plugin's bug")}
    receipt = await place.outbox.store(bank, doc("d"))
    assert (receipt.outcome, receipt.reason) == ("queued", "RuntimeError: a plugin's bug")


async def test_refused_is_failed_and_kept_as_a_dead_letter(place, bank):
    bank.poison = {"d": BankError("too large", retryable=False)}
    receipt = await place.outbox.store(bank, doc("d"))
    assert (receipt.outcome, receipt.reason) == ("failed", "too large")
    bank.poison = {}
    assert await place.queue.retry() == 1
    assert (await place.outbox.drain(bank, deadline_s=5)).sent == 1


@pytest.mark.spec("br/BR-58")
async def test_nothing_is_sent_while_the_bank_asked_to_wait(place, bank, clock):
    await fill(place, bank, *"abc")
    bank.poison = {key: BankError("429", retry_after=7) for key in "abc"}
    await place.outbox.drain(bank, deadline_s=5)
    clock.advance(6.9)
    await place.again().outbox.drain(bank, deadline_s=5, force=True)
    assert (await place.outbox.store(bank, doc("d"))).outcome == "queued"
    assert bank.calls.count("retain") == 1
    bank.poison = {}
    clock.advance(0.2)
    assert (await place.outbox.drain(bank, deadline_s=5)).sent == 4


@pytest.mark.spec("br/BR-58")
async def test_a_far_date_is_bounded_and_holds_nobody(place, bank, clock):
    bank.poison = {"d": BankError("429", retry_after=10**9)}
    receipt = await place.outbox.store(bank, doc("d"))
    assert receipt.outcome == "queued"
    until = await place.queue.paused_until("shop")
    assert (until - clock()).total_seconds() == place.policy.max_retry_after
    [row] = await place.queue.rows()
    assert (row.next_at, row.reason) == (until, "429")


async def test_order_within_a_session_survives_an_outage(place, bank, clock, away):
    bank.failing = away
    for number in (1, 2, 3):
        await place.outbox.store(bank, doc(f"w{number}"), window=("S", f"e{number}"))
    bank.failing = None
    clock.advance(600)
    receipt = await place.outbox.store(bank, doc("w4"), window=("S", "e4"))
    assert receipt.outcome == "stored"
    assert bank.stored == ["w1", "w2", "w3", "w4"]


@pytest.mark.spec("br/BR-05")
async def test_windows_of_one_session_never_replace_each_other(place, bank):
    first = document_id("S", "e1", "e3", host="pi")
    await place.outbox.store(bank, doc(first, "decision A"), window=("S", "e3"))
    later = place.again()
    second = document_id("S", "e4", "e6", host="pi")
    await later.outbox.store(bank, doc(second, "decision B"), window=("S", "e6"))
    await later.outbox.store(bank, doc(first, "decision A"), window=("S", "e3"))
    held = await bank.list_documents()
    assert sorted(d.text for d in held.documents) == ["decision A", "decision B"]
    assert bank.stored == [first, second]
    assert await later.sessions.cursor("shop", "S") == "e6"


@pytest.mark.spec("pi/M-27")
async def test_a_session_that_is_gone_fails_no_write(place, bank):
    await place.journal.lease("shop", "S", host="pi")
    await place.again().journal.lease("shop", "S", host="pi")
    await place.journal.release("shop", "S")
    receipt = await place.outbox.store(bank, doc("d"), window=("S", "e3"))
    assert receipt.outcome == "stored"
    assert await place.sessions.cursor("shop", "S") == "e3"


async def test_a_cancelled_delivery_is_given_back_untried(place, bank):
    started = asyncio.Event()

    class Slow(type(bank)):
        async def retain(self, document):
            started.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(place.outbox.store(Slow(), doc("d")))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await place.outbox.drain(bank, deadline_s=5)).sent == 1


async def test_a_bank_that_hangs_ends_with_the_deadline(place, bank):
    class Hanging(type(bank)):
        async def retain(self, document):
            await asyncio.Event().wait()

    await fill(place, bank, "a", "b")
    report = await place.outbox.drain(Hanging(), deadline_s=0.05)
    assert (report.away, report.pending) == (True, 2)


async def test_many_drains_deliver_each_write_once(place, bank):
    ids = [f"d{number:02d}" for number in range(30)]
    await fill(place, bank, *ids)
    outboxes = [place.again().outbox for _ in range(4)]
    reports = await asyncio.gather(*(o.drain(bank, deadline_s=10) for o in outboxes))
    assert sorted(bank.stored) == ids
    assert sum(report.sent for report in reports) == 30


@pytest.mark.spec("br/BR-46")
async def test_hostile_characters_poison_nothing(place, bank):
    text = "W\0s\0l works; price \ud83d; tail \x07\x1b[31mred"
    await place.queue.enqueue("shop", Document("d\0", text, tags=("t\0",), metadata={"n": "a\0b"}))
    await fill(place, bank, "good")
    report = await place.outbox.drain(bank, deadline_s=5)
    assert (report.sent, report.pending, report.dead) == (2, 0, 0)
    [held] = [d for d in (await bank.list_documents()).documents if d.id == "d\0"]
    assert (held.text, held.tags) == (text, ("t\0",))


@pytest.mark.spec("s1/S-Q-7")
async def test_reasons_are_redacted_and_bounded_and_nothing_shows_content(place, bank):
    secret = "Bearer " + "x" * 30
    outbox = Outbox(place.queue, redact=lambda text: text.replace(secret, "[secret]"))
    bank.poison = {"d": BankError(f"401 for {secret} " + "y" * 5000)}
    receipt = await outbox.store(bank, doc("d", "the content"))
    [row] = await place.queue.rows()
    counts = await place.queue.counts()
    for reason in (receipt.reason, row.reason, counts.last_error):
        assert reason.startswith("401 for [secret] ")
        assert len(reason) == 500
    assert "the content" not in f"{row}{counts}"


async def test_nothing_is_acknowledged_that_is_not_on_disk(tmp_path, bank):
    folder = tmp_path / "file"
    folder.write_text("not a folder")
    queue = Queue(folder / "queue.db")
    with pytest.raises(StorageError, match="HINDSIGHT_MEM_HOME"):
        await Outbox(queue).store(bank, doc("d"))
    assert bank.stored == []
    queue.close()
