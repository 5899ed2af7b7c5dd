"""Memorizing a session anew: new documents take the place of old ones, never the other way."""

from __future__ import annotations

import pytest

from hindsight_core.errors import BankError, ProviderError
from hindsight_core.testing.transcripts import TranscriptBuilder

REDIS = "The cache of the shop is Redis 7 on port 6380."
BROKER = "The broker of the shop is RabbitMQ."
FRIDAY = "Deploys on Fridays are banned."


def turn(talk: TranscriptBuilder, number: int) -> None:
    talk.user(f"question {number}")
    talk.assistant(f"answer {number}")


@pytest.fixture
async def grown(kit, talk, script, answer):
    """A session that became two documents, one fact each."""
    made = kit(script(extract=answer(REDIS), merge=answer(BROKER)))
    turn(talk, 1)
    await made.remember(talk)
    turn(talk, 2)
    await made.remember(talk)
    made.model.replies.set("memorize/extract", answer(REDIS, BROKER))
    return made


@pytest.mark.spec("pi/M-22", "pi/D-03")
async def test_all_of_a_session_replaces_the_documents_of_its_windows(grown, talk, answer):
    before = set(grown.bank.documents)
    assert len(before) == 2

    (report,) = await grown.remember(talk, "resave")

    assert [fact.text for fact in report.stored] == [REDIS, BROKER]
    assert set(grown.bank.documents) == {report.document_id}
    assert report.document_id not in before
    assert sorted(grown.texts) == sorted([REDIS, BROKER])
    assert await grown.queue.documents("shop-bank", "s1") == [report.document_id]
    assert await grown.remember(talk) == []


@pytest.mark.spec("pi/M-22", "pi/D-03")
async def test_a_document_is_deleted_after_its_successor_is_stored(grown, talk):
    grown.bank.calls.clear()
    await grown.remember(talk, "resave")
    calls = [call for call in grown.bank.calls if call in ("retain", "delete_document")]
    assert calls == ["retain", "delete_document", "delete_document"]


@pytest.mark.spec("pi/M-22", "pi/D-03")
@pytest.mark.parametrize("found", [{"facts": []}, ProviderError("down"), None])
async def test_without_a_successor_nothing_is_deleted(grown, talk, found, answer):
    if found is None:
        grown.bank.failing = BankError("away", retryable=True)
    else:
        grown.model.replies.set("memorize/extract", found)
    (report,) = await grown.remember(talk, "resave")
    grown.bank.failing = None
    assert report.outcome in ("empty", "failed", "queued")
    assert len(grown.bank.documents) == 2
    assert sorted(grown.texts) == sorted([REDIS, BROKER])


@pytest.mark.spec("pi/M-22", "pi/D-03")
async def test_a_bank_that_was_wiped_gets_everything_again(grown, talk):
    for document in list(grown.bank.documents):
        await grown.bank.delete_document(document)
    assert grown.texts == []
    (report,) = await grown.remember(talk, "resave")
    assert report.outcome == "stored"
    assert sorted(grown.texts) == sorted([REDIS, BROKER])


@pytest.mark.spec("pi/M-22")
async def test_it_can_be_done_again_and_again(grown, talk, answer):
    await grown.remember(talk, "resave")
    turn(talk, 3)
    grown.model.replies.set("memorize/extract", answer(REDIS, BROKER, FRIDAY))
    (second,) = await grown.remember(talk, "resave")
    assert set(grown.bank.documents) == {second.document_id}
    grown.model.replies.set("memorize/extract", answer(FRIDAY))
    (third,) = await grown.remember(talk, "resave")
    assert third.document_id == second.document_id
    assert grown.texts == [FRIDAY]


@pytest.mark.spec("pi/M-22", "pi/D-25")
async def test_documents_of_another_branch_and_of_other_sessions_stay(grown, talk, answer, script):
    other = TranscriptBuilder("s2")
    turn(other, 9)
    grown.model.replies.set("memorize/extract", answer(FRIDAY))
    await grown.remember(other)
    talk.branch("e02")
    turn(talk, 4)
    grown.model.replies.set("memorize/extract", answer(REDIS))

    await grown.remember(talk, "resave")

    # The second window holds entries of the branch that was left: it has no successor.
    assert sorted(grown.texts) == sorted([REDIS, BROKER, FRIDAY])


@pytest.mark.spec("pi/M-05", "pi/D-06")
async def test_saved_ranges_are_honoured_from_the_start_and_in_every_chunk(
    kit, talk, script, answer
):
    long = "words that fill a chunk. " * 60
    for number in range(1, 7):
        talk.user(f"question {number}: {long}")
        talk.assistant("ok")
    made = kit(script(extract=answer(REDIS)), window=1_500)
    await made.sessions.set_saved_ranges("shop-bank", "s1", [("e02", "e10")])
    await made.remember(talk, "resave")
    chunks = [text.split("[transcript]\n")[1] for text in made.asked("extract")]
    assert len(chunks) >= 3
    for chunk in chunks:
        assert chunk.count("[ALREADY SAVED TO MEMORY]") == chunk.count("[END ALREADY SAVED]")
        saved = "".join(
            part.split("[END ALREADY SAVED]")[0]
            for part in chunk.split("[ALREADY SAVED TO MEMORY]")[1:]
        )
        for number in (2, 3, 4, 5):
            if f"question {number}:" in chunk:
                assert f"question {number}:" in saved
        assert "question 1:" not in saved
        assert "question 6:" not in saved
