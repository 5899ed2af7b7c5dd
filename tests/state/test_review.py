"""The review queue: what waits for a person, over projects and processes."""

from __future__ import annotations

import pytest

from hindsight_core.memory import Document, Fact
from hindsight_core.state.queue import Queue
from hindsight_core.state.review import ReviewQueue, Written
from hindsight_core.testing.clock import FakeClock


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def opened(tmp_path, clock):
    """Queues over one file, as several processes have them."""
    made = []

    def make() -> ReviewQueue:
        made.append(Queue(tmp_path / "queue.db", clock))
        return ReviewQueue(made[-1], clock)

    yield make
    for queue in made:
        queue.close()


def written(name: str, **changes) -> Written:
    return Written(**{"bank": "shop", "document_id": name, "project": "shop", **changes})


async def waiting(queue: ReviewQueue, **more) -> list[str]:
    return [item.written.document_id for item in await queue.pending(**more)]


@pytest.mark.spec("pi/Q-01", "pi/Q-03")
async def test_what_an_entry_says(opened, clock):
    queue = opened()
    whole = written(
        "d1",
        backend="hindsight",
        endpoint="http://bank.example/v1/default",
        language="ru",
        reason="compact",
        session_id="s1",
        host="pi",
        supersedes=(("new", "old"),),
        retire=(("gone", "words"),),
        held=True,
        document=Document("d1", "text", facts=(Fact("f", "A is B."),)),
    )
    number = await queue.add(whole)
    (item,) = await queue.pending()
    assert (item.id, item.state, item.by) == (number, "pending", None)
    assert item.written == whole
    assert item.created_at == clock()


@pytest.mark.spec("pi/Q-04")
async def test_the_last_add_wins_and_a_decision_removes(opened, clock):
    queue = opened()
    for name in ("a", "b"):
        await queue.add(written(name))
    (b, a) = await queue.pending()
    await queue.decide([a], "approved")
    clock.advance(seconds=1)
    await queue.add(written("c"))
    assert await waiting(queue) == ["c", "b"]
    await queue.decide([b], "deleted")
    clock.advance(seconds=1)
    await queue.add(written("b", reason="again"))
    assert await waiting(queue) == ["b", "c"]
    assert (await queue.pending())[0].written.reason == "again"
    assert await queue.count() == 2


@pytest.mark.spec("pi/Q-01", "pi/D-26")
async def test_projects_and_parallel_sessions_share_it(opened):
    one, other = opened(), opened()
    await one.add(written("d1"))
    await other.add(written("d1", bank="site", project="site"))
    await other.add(written("d2"))
    assert len(await one.pending()) == 3
    assert await waiting(one, bank="shop") == ["d2", "d1"]
    (item,) = await other.pending(bank="site")
    await one.decide([item], "approved")
    assert await other.count("site") == 0


@pytest.mark.spec("pi/Q-05")
async def test_expiry_by_age(opened, clock):
    queue = opened()
    for days, name in ((7.1, "old"), (6.9, "young"), (0.5, "new")):
        clock.advance(days=-days)
        await queue.add(written(name))
        clock.advance(days=days)
    assert await queue.expire(0) == 0
    assert await queue.expire(-1) == 0
    assert await queue.expire(7) == 1
    assert await waiting(queue) == ["new", "young"]
    gone = await queue.of_document("shop", "old")
    assert (gone.state, gone.by) == ("approved", "expiry")
    assert await queue.last() == []


@pytest.mark.spec("pi/Q-05")
async def test_never_means_never_and_what_is_held_back_needs_its_bank(opened, clock):
    queue = opened()
    await queue.add(written("old"))
    await queue.add(written("held", held=True))
    clock.advance(days=400)
    assert await queue.expire(0) == 0
    assert await queue.expired(0) == []
    assert await queue.expire(7) == 1
    assert [item.written.document_id for item in await queue.expired(7)] == ["held"]
    assert await waiting(queue) == ["held"]


async def test_a_decision_of_a_person_is_taken_back_as_a_whole(opened):
    queue = opened()
    numbers = [await queue.add(written(name)) for name in ("a", "b", "c")]
    a, b, c = await queue.get(numbers)
    text = Document("a", "as it was")
    await queue.decide([c], "approved", by="auto")
    await queue.decide([a, b], "deleted", before={a.id: text})
    assert [(d.item.id, d.action, d.before) for d in await queue.last()] == [
        (a.id, "deleted", text),
        (b.id, "deleted", None),
    ]
    await queue.undone([a])
    assert [d.item.id for d in await queue.last()] == [b.id]
    await queue.undone([b])
    assert await queue.last() == []
    assert await waiting(queue) == ["b", "a"]


@pytest.mark.spec("pi/Q-04", "pi/D-23")
async def test_an_unreadable_row_hides_nothing_and_is_set_aside(opened, tmp_path, clock):
    queue = opened()
    await queue.add(written("good"))
    raw = Queue(tmp_path / "queue.db", clock)
    await raw.database.write(
        lambda c: (
            c.execute(
                "INSERT INTO review (bank, document_id, state, payload, created_at)"
                " VALUES ('shop', 'bad', 'pending', '{not json', 1)"
            ).rowcount
        )
    )
    assert await waiting(queue) == ["good"]
    assert await queue.count() == 1
    assert (await raw.counts()).set_aside == 1
    raw.close()


@pytest.mark.spec("pi/Q-08", "pi/D-26")
async def test_nothing_that_waits_is_lost_by_pruning(opened, tmp_path, clock):
    from hindsight_core.state.retention import prune
    from hindsight_core.state.sessions import SessionState

    queue, raw = opened(), Queue(tmp_path / "queue.db", clock)
    sessions = SessionState(tmp_path / "state.db", clock, raw)
    done = await queue.get([await queue.add(written("done"))])
    await queue.add(written("waits"))
    await queue.decide(done, "deleted", before={done[0].id: Document("done", "text")})
    clock.advance(days=400)
    pruned = await prune(raw, sessions, clock=clock)
    assert pruned.reviewed == 1
    assert await waiting(queue) == ["waits"]
    assert await queue.of_document("shop", "done") is None
    assert await queue.last() == []
    sessions.close()
    raw.close()
