from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from hindsight_core.memory import Document
from hindsight_core.state.jobs import WindowMark
from hindsight_core.state.owner import Owner, presence
from hindsight_core.state.policy import QueuePolicy


async def put(place, *ids, session=None, text="text"):
    for key in ids:
        await place.queue.enqueue("shop", Document(key, text), session_id=session)


async def take(place, owner=None, **how):
    return await place.queue.claim("shop", owner or Owner.here(), **how)


def dead_owner() -> Owner:
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], **CAPTURE)
    return replace(Owner.here(), pid=int(gone.stdout), start="1")


CAPTURE = {"capture_output": True, "text": True, "check": True}


async def test_the_same_content_waits_once(place):
    first = await place.queue.enqueue("shop", Document("d", "text"))
    again = await place.again().queue.enqueue("shop", Document("d", "text"))
    elsewhere = await place.queue.enqueue("other", Document("d", "text"))
    assert again.job_id == first.job_id != elsewhere.job_id
    assert await place.queue.pending("shop") == 1


async def test_other_content_replaces_what_waits(place):
    await put(place, "d", "e")
    await put(place, "d", text="newer")
    job = await take(place)
    assert (job.document.id, job.document.text) == ("d", "newer")
    assert await place.queue.pending() == 2


async def test_other_content_follows_what_is_being_delivered(place):
    await put(place, "d")
    job = await take(place)
    await put(place, "d", text="newer")
    assert await take(place) is None
    assert await place.queue.done(job)
    following = await take(place)
    assert following.document.text == "newer"


async def test_what_was_delivered_is_known(place):
    await put(place, "d")
    await place.queue.done(await take(place), ["f1", "f2"])
    known = await place.queue.enqueue("shop", Document("d", "text"))
    assert (known.outcome, known.fact_ids, known.job_id) == ("known", ("f1", "f2"), None)
    again = await place.queue.enqueue("shop", Document("d", "text"), again=True)
    assert again.outcome == "queued"


async def test_a_session_keeps_its_order_and_blocks_no_other(place):
    await put(place, "a1", "a2", session="A")
    await put(place, "b1", session="B")
    first = await take(place)
    second = await take(place)
    assert (first.document.id, second.document.id) == ("a1", "b1")
    assert await take(place) is None
    await place.queue.done(first)
    assert (await take(place)).document.id == "a2"


@pytest.mark.spec("br/BR-37", "s1/S-Q-2")
async def test_a_dead_process_loses_its_claim_at_once(place):
    await put(place, "d")
    assert await take(place, dead_owner())
    assert (await take(place)).document.id == "d"


@pytest.mark.spec("br/BR-37")
async def test_a_reused_process_number_is_not_the_owner(place):
    await put(place, "d")
    # That process runs, but it did not start when this owner did.
    reused = replace(Owner.here(), pid=os.getppid(), start="1")
    assert presence(str(reused)) == "dead"
    assert await take(place, reused)
    assert await take(place)


@pytest.mark.spec("br/BR-37", "s1/S-Q-2")
async def test_a_slow_holder_with_a_heartbeat_is_not_robbed(place, clock):
    await put(place, "d")
    slow = await take(place)
    for _ in range(5):
        clock.advance(place.policy.lease * 0.8)
        assert await place.queue.heartbeat(slow)
        assert await take(place) is None
    assert await place.queue.done(slow)


@pytest.mark.spec("br/BR-37", "s1/S-Q-2")
async def test_a_silent_holder_is_and_its_token_is_worth_nothing_then(place, clock):
    await put(place, "d")
    silent = await take(place)
    clock.advance(place.policy.lease + 1)
    taken = await take(place)
    assert taken.id == silent.id
    assert not await place.queue.heartbeat(silent)
    assert not await place.queue.done(silent)
    await place.queue.release(silent)
    assert await place.queue.fail(silent, "late", retryable=False) == "pending"
    assert await place.queue.done(taken)


async def test_a_lease_from_before_the_clock_jumped_back_does_not_bind(place, clock):
    await put(place, "d")
    assert await take(place)
    clock.advance(days=-30)
    assert await take(place)


async def test_a_wait_from_before_the_clock_jumped_back_does_not_either(place, clock):
    await put(place, "d")
    clock.advance(days=30)
    await place.queue.fail(await take(place), "failed")
    clock.advance(days=-30)
    assert await take(place)


@pytest.mark.spec("br/BR-46", "s1/S-Q-5")
async def test_rows_that_cannot_be_read_are_set_aside(place):
    await put(place, "good1", "bad", "good2")
    await place.queue.database.write(
        lambda c: c.execute("UPDATE jobs SET payload = 'x' WHERE document_id = 'bad'").rowcount
    )
    owner = Owner.here()
    taken = [await take(place, owner), await take(place, owner)]
    assert [job.document.id for job in taken] == ["good1", "good2"]
    assert await take(place, owner) is None
    [dead] = await place.queue.rows(state="dead")
    assert dead.document_id == "bad"
    assert "cannot be decoded" in dead.reason
    assert (await place.queue.counts("shop")).dead == 1


@pytest.mark.spec("br/BR-29")
async def test_a_write_that_kills_its_process_stops_too(place):
    await put(place, "poison", "good")
    for _ in range(place.policy.max_attempts):
        job = await take(place, dead_owner())
        assert job.document.id == "poison"
    assert (await take(place)).document.id == "good"
    [dead] = await place.queue.rows(state="dead")
    assert (dead.document_id, dead.attempts) == ("poison", 5)


@pytest.mark.spec("br/BR-29")
async def test_dead_letters_can_be_retried_or_dropped(place):
    await put(place, "a", "b")
    for _ in range(2):
        await place.queue.fail(await take(place), "422", retryable=False)
    a, b = await place.queue.rows(state="dead")
    assert (await place.queue.counts()).last_error == "422"
    assert await place.queue.retry(ids=[a.id]) == 1
    assert (await take(place)).document.id == "a"
    assert await place.queue.purge() == 1
    assert await place.queue.rows(state="dead") == []
    assert b.id != a.id


async def test_a_dead_letter_does_not_come_back_over_newer_content(place):
    await put(place, "d")
    job = await take(place)
    await put(place, "d", text="newer")
    await place.queue.fail(job, "422", retryable=False)
    await place.queue.done(await take(place))
    assert await place.queue.retry() == 0
    assert await place.queue.rows() == []


async def test_purge_leaves_waiting_writes_unless_told(place):
    await put(place, "d")
    assert await place.queue.purge() == 0
    assert await place.queue.purge(pending=True) == 1


@pytest.mark.spec("br/BR-58")
def test_waits_double_are_bounded_and_spread():
    policy = QueuePolicy(backoff=1, max_backoff=60)
    for failures, full in ((1, 1), (2, 2), (4, 8), (7, 60), (99, 60)):
        waits = [policy.wait(failures) for _ in range(50)]
        assert all(full / 2 <= wait <= full for wait in waits)
        assert len(set(waits)) > 40
    assert policy.wait(1, retry_after=7) == 7
    assert policy.wait(1, retry_after=10**9) == policy.max_retry_after
    assert policy.wait(1, retry_after=-5) == 0


@pytest.mark.spec("br/BR-05", "br/BR-62")
async def test_the_window_is_recorded_with_the_write(place):
    await place.queue.enqueue("shop", Document("d", "text"), window=WindowMark("S", "e3"))
    # The process dies here: no cursor was set.
    assert await place.again().sessions.cursor("shop", "S") == "e3"


async def test_a_window_that_overlaps_another_is_refused(place):
    async def put_window(key, *entries):
        mark = WindowMark("S", entries[-1], entry_ids=entries)
        return (await place.queue.enqueue("shop", Document(key, "text"), window=mark)).outcome

    assert await put_window("a", "e1", "e2", "e3") == "queued"
    assert await put_window("b", "e3", "e4", "e5") == "overlap"
    assert await put_window("c", "e2") == "overlap"
    assert await put_window("a", "e1", "e2", "e3") == "queued", "the very same window"
    assert await put_window("d", "e4", "e5") == "queued"
    assert await place.sessions.cursor("shop", "S") == "e5"
    assert await place.queue.documents("shop", "S") == ["a", "d"]


@pytest.mark.spec("pi/M-21")
async def test_the_documents_of_a_session_in_order_each_once(place):
    for key, last in (("a", "e3"), ("b", "e5"), ("a", "e3"), ("b", "e9")):
        await place.queue.enqueue("shop", Document(key, "text"), window=WindowMark("S", last))
    await place.queue.enqueue("shop", Document("x", "text"), window=WindowMark("T", "e1"))
    await place.journal.forget("shop", "S", through="e12")
    assert await place.queue.documents("shop", "S") == ["a", "b"]
