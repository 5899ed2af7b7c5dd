"""Facts about what is gone are retired: with words that were really said of it, and durably."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hindsight_core.errors import BankError, ProviderError
from hindsight_core.memorize.quote import Evidence, linked, says_enough
from hindsight_core.memory import Receipt
from hindsight_core.testing.transcripts import START, TranscriptBuilder

SERVER = "The review server listens on port 7788."
JENKINS = "Deploys run through Jenkins on the build host."
GATEWAY = "The old payment gateway needs a client certificate."
NEW = "Reviews are read in the panel of the shop."
DELETED = "I deleted src/review-server.ts entirely"
ON = {"memorize": {"invalidate": True}}


def retire(*pairs) -> dict:
    return {"retire": [{"id": fact.id, "quote": quote} for fact, quote in pairs]}


@pytest.fixture
def said(talk):
    talk.user("The reviews moved into the panel of the shop.")
    talk.assistant(f"{DELETED}; nothing starts it any more. Port 7788 was moved to 9100.")
    return talk


@pytest.fixture
def held(make_fact):
    return [make_fact(SERVER), make_fact(JENKINS), make_fact(GATEWAY)]


@pytest.fixture
def made(kit, script, answer, held):
    """A pipeline whose model answers the invalidate stage as told."""

    def make(reply, *, settings=ON, facts=held, extract=NEW, **more):
        stages = script(
            extract=answer(extract), topics={"queries": ["review server port deploys gateway"]}
        )
        return kit({**stages, "memorize/invalidate": reply}, held=facts, **settings, **more)

    return make


def state(kit, fact) -> str:
    return kit.bank.facts[fact.id].state


@pytest.mark.spec("pi/I-01", "pi/I-03", "pi/I-05", "pi/I-06", "pi/M-28")
async def test_a_fact_is_retired_by_a_quote_of_the_window(made, said, held):
    kit = made(retire((held[0], f"  {DELETED} ")))
    report = await kit.one(said)
    assert report.outcome == "stored"
    assert [(r.id, r.text, r.quote) for r in report.retired] == [(held[0].id, SERVER, DELETED)]
    fact = kit.bank.facts[held[0].id]
    assert (fact.state, fact.reason) == ("invalidated", DELETED)
    assert [state(kit, fact) for fact in held[1:]] == ["valid", "valid"]
    stages = [r.stage.split("/")[1] for r in kit.model.requests]
    assert stages == ["extract", "verify", "topics", "invalidate", "dedup", "summary"]
    (request,) = kit.model.asked("memorize/invalidate")
    assert request.max_tokens == 512
    asked = request.messages[0].content
    assert f"ASSISTANT: {DELETED}" in asked
    for fact in held:
        assert f"{fact.id}: {fact.text}" in asked


@pytest.mark.spec("pi/I-01")
async def test_it_is_off_by_default(made, said, held):
    kit = made(retire((held[0], DELETED)), settings={})
    report = await kit.one(said)
    assert report.retired == ()
    assert kit.asked("invalidate") == []
    assert state(kit, held[0]) == "valid"


@pytest.mark.spec("pi/D-17", "pi/I-06")
async def test_nothing_is_retired_before_the_document_is_stored(made, said, held):
    kit = made(retire((held[0], DELETED)))
    kit.bank.calls.clear()
    await kit.one(said)
    calls = [call for call in kit.bank.calls if call in ("retain", "set_state")]
    assert calls == ["retain", "set_state"]


@pytest.mark.spec("pi/D-17", "pi/I-08")
async def test_a_document_that_is_refused_retires_nothing(made, said, held):
    kit = made(retire((held[0], DELETED)))

    async def refuse(document):
        return Receipt("failed", document.id, reason="too large")

    kit.bank.retain = refuse
    report = await kit.one(said)
    assert (report.outcome, report.retired) == ("failed", ())
    assert state(kit, held[0]) == "valid"


@pytest.mark.spec("pi/I-06", "pi/M-17")
async def test_what_cannot_be_retired_is_skipped_and_the_write_stands(made, said, held):
    kit = made(retire((held[0], DELETED), (held[1], DELETED)))
    plain = kit.bank.set_state

    async def set_state(fact_id, wanted, **more):
        raise BankError("500", retryable=True)

    kit.bank.set_state = set_state
    report = await kit.one(said)
    assert (report.outcome, report.retired) == ("stored", ())
    assert kit.bank.set_state is not plain
    assert "retiring" in report.reason


@pytest.mark.spec("pi/I-08")
@pytest.mark.parametrize("reply", [ProviderError("down"), "I would retire the first one.", "{}"])
async def test_a_stage_that_fails_leaves_the_write_untouched(made, said, held, reply):
    kit = made(reply)
    report = await kit.one(said)
    assert (report.outcome, report.retired) == ("stored", ())
    assert NEW in kit.texts
    assert state(kit, held[0]) == "valid"


@pytest.mark.spec("pi/M-17", "pi/I-01")
async def test_everything_known_and_something_gone(made, said, held, make_fact):
    known = make_fact("Reviews are shown in the panel.")
    kit = made(retire((held[0], DELETED)), facts=[*held, known])
    kit.model.replies.set("memorize/dedup", {"known": [1], "updates": []})
    report = await kit.one(said)
    assert report.outcome == "known"
    assert [r.id for r in report.retired] == [held[0].id]


@pytest.mark.spec("pi/I-02")
async def test_who_can_be_retired(made, said, held, make_fact):
    pinned = make_fact("The review server is pinned to version 2.", pinned=True)
    observed = make_fact("The review server is restarted often.", kind="observation")
    later = make_fact("The review server runs again.", timestamp=START.replace(year=2031))
    kit = made(retire(), facts=[held[0], pinned, observed, later])
    await kit.one(said)
    (asked,) = kit.asked("invalidate")
    assert held[0].id in asked
    for fact in (pinned, observed, later):
        assert fact.id not in asked


@pytest.mark.spec("pi/I-02")
async def test_at_most_60_facts_and_none_without_facts(made, said, make_fact):
    many = [make_fact(f"The review server has setting number {n}.") for n in range(100)]
    kit = made(retire(), facts=many)
    kit.model.replies.set("memorize/topics", {"queries": [f"number {n}" for n in range(5)]})
    await kit.one(said)
    (asked,) = kit.asked("invalidate")
    assert 10 < asked.count("has setting number") <= 60
    empty = made(retire(), facts=[], home="other")
    await empty.one(said)
    assert empty.asked("invalidate") == []


@pytest.mark.spec("pi/I-02")
async def test_a_window_that_one_call_cannot_read_retires_nothing(made, talk, held):
    for number in range(12):
        talk.user(f"{number} {DELETED}. " + "Some more words of a long session. " * 40)
    kit = made(retire((held[0], DELETED)), window=1_500)
    report = (await kit.remember(talk))[0]
    assert report.retired == ()
    assert kit.asked("invalidate") == []


@pytest.mark.spec("pi/I-05", "pi/I-03")
@pytest.mark.parametrize(
    "reply",
    [
        {"retire": []},
        {"retire": [{"id": "not-in-the-list", "quote": DELETED}]},
        {"retire": [{"id": SERVER, "quote": DELETED}]},
    ],
)
async def test_only_facts_of_the_list(made, said, held, reply):
    kit = made(reply)
    assert (await kit.one(said)).retired == ()


@pytest.mark.spec("pi/I-05")
async def test_a_fact_is_retired_once(made, said, held):
    kit = made(retire((held[0], DELETED), (held[0], "nothing starts it any more at all")))
    report = await kit.one(said)
    assert len(report.retired) == 1


@pytest.mark.spec("pi/D-17")
async def test_a_changed_value_is_the_resolvers(made, said, held, make_fact):
    changed = "The review server listens on port 9100 now."
    kit = made(retire((held[0], "Port 7788 was moved to 9100.")), extract=changed)
    report = await kit.one(said)
    assert (report.superseded, report.retired) == (1, ())
    assert state(kit, held[0]) == "superseded"


# -- the evidence ---------------------------------------------------------------------------------
def evidence(*turns: str, saved: frozenset[str] = frozenset()) -> Evidence:
    talk = TranscriptBuilder()
    for number, text in enumerate(turns):
        (talk.assistant if number % 2 else talk.user)(text)
    return Evidence(replace(talk.window(), saved=saved))


@pytest.mark.spec("pi/I-05")
@pytest.mark.parametrize(
    ("quote", "counts"),
    [
        (DELETED, True),
        ("i DELETED   src/review-server.ts\n  ENTIRELY", True),
        (f"ASSISTANT: {DELETED}", True),
        ("Port 7788 was moved to 9100.", True),
        ("", False),
        ("    ", False),
        ("e", False),
        ("deleted", False),
        ("I deleted", False),
        ("I deleted src/re", False),
        ("we removed the review server yesterday evening", False),
    ],
)
def test_the_quote_was_said_and_says_enough(quote, counts):
    said = evidence("done?", f"Yes: {DELETED}; nothing starts it. Port 7788 was moved to 9100.")
    assert said.supports(quote, SERVER) is counts


@pytest.mark.spec("pi/D-17")
@pytest.mark.parametrize(
    ("message", "quote", "fact"),
    [
        ("please run the tests now", "please run the tests now", "The tests run with pytest -n 4."),
        ("Delete the review server for good, please.", "Delete the review server for good", SERVER),
        ("Was the review server removed for good?", "the review server removed for good", SERVER),
        (
            "I think the review server is gone for good.",
            "the review server is gone for good",
            SERVER,
        ),
        (
            'The docs say "the review server was removed for good in 2.0" somewhere.',
            "the review server was removed for good",
            SERVER,
        ),
        (
            "> The review server was removed for good in 2.0\n\nCan you check that?",
            "The review server was removed for good",
            SERVER,
        ),
        (
            "```\nthe review server was removed for good\n```\nis what it printed",
            "the review server was removed for good",
            SERVER,
        ),
        (f"{DELETED}.", DELETED, "The office has a coffee machine on the second floor."),
    ],
    ids=["request", "order", "question", "doubt", "quoted", "blockquote", "code", "other subject"],
)
def test_words_that_are_no_evidence(message, quote, fact):
    assert evidence(message).supports(quote, fact) is False


@pytest.mark.spec("pi/D-17", "pi/X-05")
def test_what_was_saved_before_is_no_evidence():
    assert evidence(f"{DELETED}.").supports(DELETED, SERVER)
    assert not evidence(f"{DELETED}.", saved=frozenset({"e01"})).supports(DELETED, SERVER)


@pytest.mark.spec("pi/D-17")
def test_neither_tools_nor_thoughts_nor_host_records_are_evidence(talk):
    talk.user("look at it")
    talk.assistant(thinking=f"{DELETED}.", calls=[talk.call("bash", command="cat notes")])
    talk.result(f"{DELETED}.")
    talk.record(f"{DELETED}.")
    assert not Evidence(talk.window()).supports(DELETED, SERVER)


@pytest.mark.spec("pi/D-17")
@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("我们已经彻底删除了旧的支付网关服务", "支付网关服务监听 8443 端口。"),
        ("レビューサーバーは完全に削除されました", "レビューサーバーは7788番です。"),
        ("Сервис уведомлений окончательно удалён", "Сервис уведомлений слушает порт 9000."),
        ("Der alte Prüfserver wurde endgültig abgeschaltet", "Der Prüfserver läuft auf Port 7788."),
        ("ลบเซิร์ฟเวอร์ตรวจสอบออกจากระบบแล้ว", "เซิร์ฟเวอร์ตรวจสอบใช้พอร์ต 7788"),
    ],
    ids=["zh", "ja", "ru", "de", "th"],
)
def test_evidence_in_any_script(said, fact):
    found = evidence(f"{said}.")
    assert found.supports(said, fact)
    assert not found.supports(said, "The office has a coffee machine.")
    assert not found.supports(said[:4], fact)


@pytest.mark.spec("pi/I-05", "pi/D-17")
def test_how_much_a_quote_has_to_say():
    assert says_enough("port 7788 was moved.")
    assert not says_enough("port 7788 was moved"[:19])
    assert not says_enough("incomprehensibilities removed altogether")
    assert says_enough("彻底删除了旧支付网关")
    assert not says_enough("彻底删除了旧支付")
    assert linked("we dropped Jenkins for good", JENKINS)
    assert not linked("we dropped the intranet for good", JENKINS)
