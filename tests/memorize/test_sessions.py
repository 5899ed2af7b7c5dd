"""Windows of a session: cursor, boundary, branches, saved ranges, size, order of jobs."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from hindsight_core.errors import ProviderError
from hindsight_core.identity import document_id
from hindsight_core.testing.transcripts import TranscriptBuilder
from hindsight_core.transcript.entry import Transcript

REDIS = "The cache of the shop is Redis 7 on port 6380."


def turns(talk: TranscriptBuilder, count: int, *, words: int = 0) -> TranscriptBuilder:
    for number in range(1, count + 1):
        talk.user(f"question {number}" + " word" * words)
        talk.assistant(f"answer {number}")
    return talk


@pytest.mark.spec("pi/M-07", "br/BR-22")
async def test_a_compaction_memorizes_up_to_what_it_keeps(kit, talk, script, answer):
    turns(talk, 3)
    made = kit(script(extract=answer(REDIS)))
    (report,) = await made.remember(talk, "compact", before="e05")
    assert report.document_id == document_id("s1", "e01", "e04", host="generic")
    assert await made.cursor() == "e04"
    (later,) = await made.remember(talk, "shutdown:quit")
    assert "question 3" in made.asked("extract")[1]
    assert "question 2" not in made.asked("extract")[1]
    assert later.outcome == "known"
    assert await made.cursor() == "e06"


@pytest.mark.spec("pi/M-08")
async def test_a_cursor_beyond_the_boundary_is_told(kit, talk, script, answer):
    turns(talk, 3)
    made = kit(script(extract=answer(REDIS)))
    await made.remember(talk, "compact", before="e05")
    (report,) = await made.remember(talk, "compact", before="e03")
    assert (report.outcome, report.document_id) == ("skipped", None)
    assert "2 entries" in report.reason
    assert await made.cursor() == "e04"
    assert len(made.asked("extract")) == 1


@pytest.mark.spec("br/BR-73")
@pytest.mark.parametrize(("words", "missing"), [("ok", 118), ("", 118), ("ok", 0)])
async def test_a_session_with_missing_entries_is_not_called_empty(kit, talk, words, missing):
    talk.user(words)
    made = kit()
    session = replace(talk.transcript(), skipped=missing)
    (report,) = await made.memorizer.remember_transcript(session, reason="manual")
    assert report.outcome == ("skipped" if missing else "empty")
    assert ("118 entries were left out" in report.reason) is bool(missing)


@pytest.mark.spec("pi/M-03", "br/BR-22")
async def test_jobs_of_a_session_run_in_order_over_their_snapshots(kit, talk, script):
    release = asyncio.Event()
    seen: list[str] = []

    made = kit(script())
    reply = made.model.complete

    async def slowly(request, *, purpose=None):
        seen.append(request.messages[0].content)
        if len(seen) == 1:
            await release.wait()
        return await reply(request, purpose=purpose)

    made.model.complete = slowly
    talk.user("alpha")
    first = asyncio.create_task(made.remember(talk.transcript(), "turns"))
    await asyncio.sleep(0)
    talk.user("beta")
    second = asyncio.create_task(made.remember(talk.transcript(), "turns"))
    talk.user("gamma")
    while not seen:
        await asyncio.sleep(0.01)
    assert not second.done()
    release.set()
    await asyncio.gather(first, second)
    assert ["alpha" in text for text in seen] == [True, False]
    assert ["beta" in text for text in seen] == [False, True]
    assert not any("gamma" in text for text in seen)
    assert await made.cursor() == "e02"


@pytest.mark.spec("pi/D-25", "br/BR-62")
async def test_after_going_back_only_the_new_branch_is_looked_at(kit, talk, script, answer):
    turns(talk, 2)
    made = kit(script(extract=answer(REDIS)))
    await made.remember(talk)
    turns(talk, 1)
    await made.remember(talk)
    talk.branch("e04")
    talk.user("another way")
    await made.remember(talk)
    last = made.asked("extract")[-1]
    assert "another way" in last
    assert "question" not in last.split("[transcript]")[1]


@pytest.mark.spec("pi/D-25", "br/BR-62")
async def test_going_back_into_the_middle_of_a_window_goes_on_from_there(kit, talk, script, answer):
    turns(talk, 2)
    made = kit(script(extract=answer(REDIS)))
    await made.remember(talk)
    talk.branch("e02")
    talk.user("another way")
    (report,) = await made.remember(talk)
    assert report.outcome == "known"
    assert "question" not in made.asked("extract")[-1].split("[transcript]")[1]
    assert await made.remember(talk) == []


@pytest.mark.spec("pi/M-05", "pi/D-03", "br/BR-62")
async def test_a_resave_starts_again_and_loses_nothing(kit, talk, script, answer):
    turns(talk, 2)
    made = kit(script(extract=answer(REDIS), merge=answer()))
    await made.remember(talk)
    assert await made.sessions.summary("shop-bank", "s1")
    made.model.replies.set("memorize/extract", answer(REDIS, "The broker is RabbitMQ."))
    (report,) = await made.remember(talk, "resave", before="e02")
    assert "question 1" in made.asked("extract")[1]
    assert "question 2" in made.asked("extract")[1]
    assert made.asked("merge") == []  # no prior summary tells the model to drop what it covers
    assert [fact.text for fact in report.stored] == [REDIS, "The broker is RabbitMQ."]
    assert sorted(made.texts) == sorted([REDIS, "The broker is RabbitMQ."])
    assert await made.remember(talk) == []


@pytest.mark.spec("pi/D-03")
async def test_a_resave_that_fails_deletes_nothing(kit, talk, script, answer):
    turns(talk, 2)
    made = kit(script(extract=answer(REDIS)))
    await made.remember(talk)
    made.model.replies.set("memorize/extract", ProviderError("down"))
    (report,) = await made.remember(talk, "resave")
    assert report.outcome == "failed"
    assert made.texts == [REDIS]


@pytest.mark.spec("pi/X-05", "pi/X-06", "pi/M-05", "pi/K-05")
async def test_saved_ranges_are_marked_and_forgotten_once_passed(kit, talk, script, answer):
    turns(talk, 3)
    made = kit(script(extract=answer(REDIS)))
    await made.sessions.set_saved_ranges("shop-bank", "s1", [("e02", "e04"), ("e05", "gone")])
    await made.one(talk)
    transcript = made.asked("extract")[0].split("[transcript]\n")[1].split("[end of transcript]")[0]
    saved = transcript.split("[ALREADY SAVED TO MEMORY]")[1].split("[END ALREADY SAVED]")[0]
    assert "question 2" in saved
    assert "question 1" not in saved
    assert "question 3" not in saved
    assert await made.sessions.saved_ranges("shop-bank", "s1") == ()


async def test_a_window_that_is_saved_already_asks_nobody(kit, talk, script):
    turns(talk, 1)
    made = kit(script())
    await made.sessions.set_saved_ranges("shop-bank", "s1", [(None, "e02")])
    report = await made.one(talk)
    assert report.outcome == "empty"
    assert made.model.requests == []
    assert await made.cursor() == "e02"


@pytest.mark.spec("pi/X-08", "br/BR-17")
async def test_a_session_much_larger_than_the_model_is_memorized_piece_by_piece(
    kit, script, answer
):
    talk = turns(TranscriptBuilder(), 60, words=300)
    made = kit(script(extract=answer(REDIS), merge=answer(REDIS)), window=2000)
    reports = await made.remember(talk)
    assert len(reports) > 1
    sent = made.asked("extract")
    bodies = [text.split("[transcript]\n")[1].split("\n[end of transcript]")[0] for text in sent]
    assert all(0 < len(body) <= 4000 for body in bodies)
    whole = "\n".join(bodies)
    assert [whole.count(f"question {n} ") for n in range(1, 61)] == [1] * 60
    assert await made.cursor() == "e120"
    assert await made.remember(talk) == []


@pytest.mark.spec("pi/D-02")
async def test_a_failure_costs_one_piece_of_a_long_session(kit, script, answer):
    talk = turns(TranscriptBuilder(), 60, words=300)
    made = kit(script(extract=answer(REDIS), merge=answer(REDIS)), window=2000)
    answered = 0

    def sometimes(request):
        nonlocal answered
        answered += 1
        return answer(f"Fact {answered}") if answered < 20 else ProviderError("down")

    made.model.replies.set("memorize/extract", sometimes)
    reports = await made.remember(talk)
    assert reports[-1].outcome == "failed"
    assert all(report.outcome in ("stored", "known") for report in reports[:-1])
    done = await made.cursor()
    assert done not in (None, "e120")
    made.model.replies.set("memorize/extract", answer(REDIS))
    assert (await made.remember(talk))[-1].outcome in ("stored", "known")
    assert await made.cursor() == "e120"


async def test_without_a_model_a_session_is_one_window(kit):
    talk = turns(TranscriptBuilder(), 60, words=300)
    talk.user("Remember: the queue prefetch is 20.")
    (report,) = await kit(None).remember(talk)
    assert report.document_id == document_id("s1", "e01", "e121", host="generic")


@pytest.mark.spec("br/BR-62")
async def test_two_processes_with_one_session_store_each_fact_once(kit, talk, script, answer):
    turns(talk, 2)
    one = kit(script(extract=answer(REDIS)))
    two = kit(script(extract=answer(REDIS)), bank=one.bank)
    shorter = Transcript("s1", "generic", talk.path[:2])
    reports = await asyncio.gather(
        one.remember(talk), two.memorizer.remember_transcript(shorter, reason="manual")
    )
    outcomes = [report.outcome for each in reports for report in each]
    assert "failed" not in outcomes
    assert one.texts == [REDIS]
    # Whoever was last, all of the longer path is dealt with.
    path = [entry.id for entry in talk.path]
    assert await one.sessions.cursor(one.bank.id, "s1", path=path) == path[-1] == "e04"


@pytest.mark.spec("pi/D-26")
async def test_sessions_of_one_project_do_not_mix(kit, script, answer):
    made = kit(script(extract=answer(REDIS)))
    one, two = TranscriptBuilder("s1"), TranscriptBuilder("s2")
    one.user("words of one")
    two.user("words of two")
    await asyncio.gather(made.remember(one), made.remember(two))
    assert await made.cursor("s1") == await made.cursor("s2") == "e01"
    made.model.replies.set("memorize/summary", "other")
    two.user("more")
    made.model.replies.set("memorize/extract", answer("The broker is RabbitMQ."))
    made.model.replies.set("memorize/merge", answer("The broker is RabbitMQ."))
    await made.remember(two)
    assert await made.sessions.summary("shop-bank", "s2") == "other"
    assert await made.sessions.summary("shop-bank", "s1") != "other"


async def test_a_secret_as_an_entry_id_is_in_no_file(kit, talk, script, answer, tmp_path):
    secret = "sk-" + "ant-" + "api03-" + "Zq8" * 12
    talk.user(f"The port is 6380. {REDIS}")
    talk.assistant("noted")
    entries = talk.transcript().entries
    named = tuple(
        replace(e, id=f"{secret}{n}", parent_id=f"{secret}{n - 1}" if n else None)
        for n, e in enumerate(entries)
    )
    made = kit(script(extract=answer(REDIS)))
    session = replace(talk.transcript(), entries=named)
    (report,) = await made.memorizer.remember_transcript(session, reason="manual")
    assert report.outcome == "stored"
    assert await made.memorizer.remember_transcript(session, reason="manual") == []
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files and not any(secret.encode() in path.read_bytes() for path in files)
