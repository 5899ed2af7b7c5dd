"""Extraction with a model: chunks, extract, merge, verify."""

from __future__ import annotations

import pytest

from hindsight_core.errors import ProviderError
from hindsight_core.testing.transcripts import TranscriptBuilder

REDIS = "The cache of the shop is Redis 7 on port 6380."
BROKER = "Orders go through RabbitMQ."


@pytest.fixture
def long_talk():
    talk = TranscriptBuilder()
    for number in range(4):
        talk.user(f"part {number} " + "word " * 300)
    return talk


@pytest.mark.spec("pi/M-12", "pi/M-11")
async def test_chunks_are_read_one_after_another_and_empty_notes_skipped(
    kit, long_talk, script, answer
):
    made = kit(script(extract=[answer(), answer(REDIS), answer()]), window=1000)
    report = await made.one(long_talk)
    assert len(made.asked("extract")) > 1
    assert [fact.text for fact in report.stored] == [REDIS]
    assert made.asked("merge") == []  # one note only: nothing to merge


@pytest.mark.spec("pi/M-13", "pi/L-05")
async def test_several_notes_are_merged_with_no_prior_summary(kit, long_talk, script, answer):
    made = kit(
        script(
            extract=[
                answer(REDIS, category="facts"),
                {"facts": [{"text": BROKER, "category": "Decisions"}]},
                answer(),
            ],
            merge={"facts": [{"text": REDIS, "category": "Facts"}]},
        ),
        window=1000,
    )
    report = await made.one(long_talk)
    (sent,) = made.asked("merge")
    assert "(empty)" in sent
    assert f"[note 1]\nFacts:\n- {REDIS}\n[end of note 1]" in sent
    assert f"[note 2]\nDecisions:\n- {BROKER}\n[end of note 2]" in sent
    assert [fact.text for fact in report.stored] == [REDIS]
    assert made.model.asked("memorize/merge")[0].max_tokens == 2048


@pytest.mark.spec("pi/M-13", "pi/M-28")
async def test_one_note_is_merged_once_there_is_a_prior_summary(kit, talk, script, answer):
    made = kit(script(extract=answer(REDIS), summary="Facts:\n- nothing else"))
    talk.user("the cache is redis")
    await made.one(talk)
    made.model.replies.set("memorize/extract", answer(BROKER))
    made.model.replies.set("memorize/merge", answer(BROKER))
    talk.user("orders go through rabbit")
    before = len(made.model.stages)
    await made.one(talk)
    assert made.model.stages[before : before + 3] == [
        "memorize/extract",
        "memorize/merge",
        "memorize/verify",
    ]
    assert "Facts:\n- nothing else" in made.asked("merge")[0]


@pytest.mark.spec("pi/M-13")
async def test_a_merge_that_leaves_nothing_stores_nothing(kit, talk, script, answer):
    made = kit(script(extract=answer(REDIS)))
    await made.sessions.set_summary("shop-bank", "s1", f"- {REDIS}")
    made.model.replies.set("memorize/merge", answer())
    talk.user("the cache is redis")
    report = await made.one(talk)
    assert report.outcome == "empty"
    assert await made.cursor() == "e01"
    assert "memorize/verify" not in made.model.stages


@pytest.mark.spec("pi/M-13")
async def test_a_merge_that_fails_keeps_the_joined_notes(kit, long_talk, script, answer):
    made = kit(
        script(extract=[answer(REDIS), answer(BROKER), answer(REDIS)], merge=ProviderError("down")),
        window=1000,
    )
    report = await made.one(long_talk)
    assert [fact.text for fact in report.stored] == [REDIS, BROKER]
    assert "passed over: memorize/merge" in report.reason


@pytest.mark.spec("pi/M-14", "pi/L-05")
async def test_only_verified_facts_are_stored_unchanged(kit, talk, script, answer):
    made = kit(script(extract=answer(REDIS, BROKER), verify={"keep": [2]}))
    talk.user("orders go through rabbit")
    report = await made.one(talk)
    assert [fact.text for fact in report.stored] == [BROKER]
    (sent,) = made.asked("verify")
    assert "USER: orders go through rabbit" in sent
    assert f"1. {REDIS}\n2. {BROKER}\n" in sent


@pytest.mark.spec("pi/D-22", "pi/M-14")
async def test_verifying_can_reject_everything(kit, talk, script, answer):
    made = kit(script(extract=answer(REDIS), verify={"keep": []}))
    talk.user("hello")
    report = await made.one(talk)
    assert report.outcome == "empty"
    assert made.bank.facts == {}
    assert await made.cursor() == "e01"


@pytest.mark.spec("pi/M-14")
@pytest.mark.parametrize("reply", [ProviderError("down"), "I cannot say.", {"keep": [7]}])
async def test_a_verification_that_fails_keeps_the_note(kit, talk, script, answer, reply):
    made = kit(script(extract=answer(REDIS), verify=reply))
    talk.user("the cache is redis")
    report = await made.one(talk)
    assert [fact.text for fact in report.stored] == [REDIS]
    assert "memorize/verify" in report.reason


@pytest.mark.spec("pi/M-14")
async def test_more_than_one_chunk_is_not_verified(kit, long_talk, script, answer):
    made = kit(script(extract=answer(REDIS), merge=answer(REDIS)), window=1000)
    assert (await made.one(long_talk)).outcome == "stored"
    assert made.asked("verify") == []


@pytest.mark.spec("pi/M-14")
async def test_the_bound_of_verifying_is_the_size_of_a_chunk(kit, script, answer):
    # 4000 tokens, half of them for the transcript, four characters a token.
    for size, verified in ((7900, True), (8100, False)):
        talk = TranscriptBuilder()
        words = "word " * (size // 5)
        talk.user(words[: size // 2])
        talk.user(words[: size // 2])
        made = kit(
            script(extract=answer(REDIS), merge=answer(REDIS)), window=4000, home=f"home-{size}"
        )
        await made.one(talk)
        assert bool(made.asked("verify")) is verified


@pytest.mark.spec("pi/D-22", "pi/M-15")
async def test_none_with_a_period_is_never_a_memory(kit, talk, script, answer):
    made = kit(script(extract=answer("NONE.", "None", REDIS)))
    talk.user("the cache is redis")
    report = await made.one(talk)
    assert [fact.text for fact in report.stored] == [REDIS]


@pytest.mark.spec("pi/M-11")
@pytest.mark.parametrize(
    "reply",
    ['```json\n{"facts": []}\n```', '{"facts": []}', "[]", 'Nothing here:\n{"facts": [],}'],
)
async def test_an_empty_answer_in_any_wrapping_is_empty(kit, talk, script, reply):
    made = kit(script(extract=reply))
    talk.user("hello")
    assert (await made.one(talk)).outcome == "empty"


@pytest.mark.spec("pi/D-02")
@pytest.mark.parametrize("reply", ["", "NONE", "Sorry, I cannot do that."])
async def test_prose_instead_of_an_answer_is_failed_and_not_empty(kit, talk, script, reply):
    made = kit({**script(extract=reply), "memorize/extract+repair": reply})
    talk.user("the cache is redis")
    report = await made.one(talk)
    assert report.outcome == "failed"
    assert await made.cursor() is None


async def test_an_answer_is_repaired_once(kit, talk, script, answer):
    made = kit({**script(extract="oops"), "memorize/extract+repair": answer(REDIS)})
    talk.user("the cache is redis")
    assert [fact.text for fact in (await made.one(talk)).stored] == [REDIS]


@pytest.mark.spec("pi/W-07")
async def test_one_language_in_every_prompt_that_writes(kit, script, answer):
    made = kit(
        script(extract=answer(REDIS), merge=answer(BROKER)),
        memorize={"language": "Klingon"},
    )
    talk = TranscriptBuilder()
    talk.user("the cache is redis")
    await made.one(talk)
    made.model.replies.set("memorize/extract", answer(BROKER))
    talk.user("orders go through rabbit")
    report = await made.one(talk)
    for stage in ("extract", "merge", "verify", "topics", "summary"):
        sent = made.asked(stage)
        assert sent, stage
        assert all("Klingon" in text for text in sent), stage
    document = made.bank.documents[report.document_id]
    assert "Klingon" in document.context
    assert document.metadata["language"] == "Klingon"


async def test_thoughts_and_host_records_never_reach_the_bank_by_themselves(kit, talk, script):
    made = kit(script())
    talk.record("HOST RECORD")
    talk.assistant("yes", thinking="maybe it is the cache")
    await made.one(talk)
    (sent,) = made.asked("extract")
    assert "HOST RECORD" not in sent
    assert "[thinking] maybe it is the cache" in sent
