"""Candidates against the bank with a model: topics, neighbours, known, changed, new."""

from __future__ import annotations

import pytest

from hindsight_core.banks.base import Capabilities
from hindsight_core.errors import BankError, ProviderError
from hindsight_core.identity import fact_id
from hindsight_core.memorize.neighbours import bounded, find_neighbours
from hindsight_core.memory import Fact
from hindsight_core.testing.memory_bank import FakeBank
from hindsight_core.testing.transcripts import START

OLD = "The cache of the shop listens on port 6379"
NEW = "Port of the shop's Redis cache: 6380"
SAME = "The shop's cache can be reached at port 6379"
BROKER = "Orders go through RabbitMQ."


@pytest.fixture
def held(make_fact):
    return [make_fact(OLD, timestamp=START)]


class Recorded(FakeBank):
    """Remembers every search."""

    def __init__(self, **more: object) -> None:
        super().__init__("shop-bank", **more)
        self.queries: list = []

    async def recall(self, query):
        self.queries.append(query)
        return await super().recall(query)


@pytest.mark.spec("pi/M-16", "pi/L-05")
async def test_the_whole_note_and_its_topics_are_searched(kit, talk, script, answer):
    made = kit(
        script(
            extract=answer(NEW, BROKER),
            topics={"queries": ["cache port", "  ", "broker", "c", "d", "e", "f"]},
        ),
        bank=Recorded(),
    )
    talk.user("redis is on 6380, orders go through rabbit")
    await made.one(talk)
    asked = [query.text for query in made.bank.queries]
    assert f"{NEW} {BROKER}" in asked
    assert {"cache port", "broker", "c", "d", "e"} < set(asked)
    assert "f" not in asked
    assert {(query.budget, query.max_tokens) for query in made.bank.queries} == {("mid", 800)}
    (sent,) = made.asked("topics")
    assert f"1. {NEW}\n2. {BROKER}\n" in sent
    assert made.model.asked("memorize/topics")[0].max_tokens == 320


@pytest.mark.spec("pi/M-16")
@pytest.mark.parametrize("reply", [ProviderError("down"), "no list", {"queries": "x" * 3}])
async def test_failing_topics_leave_the_note_itself(kit, talk, script, answer, reply):
    made = kit(script(extract=answer(NEW), topics=reply), bank=Recorded())
    talk.user("redis is on 6380")
    assert (await made.one(talk)).outcome == "stored"
    assert NEW in [query.text for query in made.bank.queries]


@pytest.mark.spec("pi/D-09", "pi/M-16")
async def test_no_query_is_longer_than_a_server_takes(make_fact):
    bank = Recorded()
    facts = [make_fact(f"Fact number {n} " + "with many words " * 60) for n in range(40)]
    facts.append(make_fact("很长的事实" * 400))
    await find_neighbours(bank, facts)
    assert len(bank.queries) == 41
    assert all(len(query.text) <= 1000 for query in bank.queries)
    assert len(bounded("漢" * 1000)) < 300
    assert bounded("short") == "short"


@pytest.mark.spec("pi/M-16")
async def test_a_search_that_fails_is_skipped(kit, talk, script, answer):
    class Moody(Recorded):
        async def recall(self, query):
            if query.text == "shop":
                raise BankError("query too long", retryable=False)
            return await super().recall(query)

    made = kit(script(extract=answer(OLD), dedup={"known": [1], "updates": []}), bank=Moody())
    talk.user("redis is on 6379")
    assert (await made.one(talk)).outcome == "stored"


@pytest.mark.spec("pi/M-16")
async def test_a_bank_that_extracts_is_asked_for_the_note_and_its_topics_only(
    kit, talk, script, answer
):
    bank = Recorded(capabilities=Capabilities(extracts=True))
    made = kit(script(extract=answer(NEW, BROKER), topics={"queries": ["cache"]}), bank=bank)
    talk.user("redis is on 6380")
    report = await made.one(talk)
    assert [query.text for query in bank.queries] == [f"{NEW} {BROKER}", "cache"]
    document = bank.documents[report.document_id]
    assert document.facts is None
    assert document.text == f"# Facts\n- {NEW}\n- {BROKER}"
    assert 'project "shop"' in document.context


@pytest.mark.spec("pi/M-17", "pi/L-05")
async def test_new_facts_stand_first_and_what_is_known_second(kit, talk, script, answer, held):
    made = kit(script(extract=answer(SAME, BROKER), topics={"queries": ["shop cache"]}), held=held)
    talk.user("redis")
    await made.one(talk)
    (sent,) = made.asked("dedup")
    new, known = sent.split("[stored facts]")
    assert f"1. {SAME}\n2. {BROKER}\n" in new
    assert f"1. {OLD}\n" in known
    assert made.model.asked("memorize/dedup")[0].max_tokens == 2048


@pytest.mark.spec("pi/M-17", "br/BR-16")
async def test_what_the_model_calls_known_is_not_stored(kit, talk, script, answer, held):
    made = kit(
        script(
            extract=answer(SAME, BROKER),
            topics={"queries": ["shop cache"]},
            dedup={"known": [1], "updates": []},
        ),
        held=held,
    )
    talk.user("redis")
    report = await made.one(talk)
    assert [fact.text for fact in report.stored] == [BROKER]
    assert report.known == 1
    assert sorted(made.texts) == sorted([OLD, BROKER])


@pytest.mark.spec("pi/M-17", "br/BR-16")
async def test_what_the_model_calls_an_update_supersedes(kit, talk, script, answer, held):
    made = kit(
        script(
            extract=answer(NEW),
            topics={"queries": ["shop cache"]},
            dedup={"known": [], "updates": [{"fact": 1, "known": 1}]},
        ),
        held=held,
    )
    talk.user("redis moved")
    report = await made.one(talk)
    assert report.superseded == 1
    document = made.bank.documents[report.document_id]
    assert document.supersedes == ((fact_id(NEW), fact_id(OLD)),)
    assert made.bank.facts[fact_id(OLD)].state == "superseded"
    assert made.texts == [NEW]


@pytest.mark.spec("br/BR-16", "pi/M-17")
async def test_another_number_is_never_known_whatever_the_model_says(
    kit, talk, script, answer, held
):
    made = kit(
        script(
            extract=answer(NEW),
            topics={"queries": ["shop cache"]},
            dedup={"known": [1], "updates": []},
        ),
        held=held,
    )
    talk.user("redis moved")
    assert [fact.text for fact in (await made.one(talk)).stored] == [NEW]


async def test_a_pinned_fact_is_not_superseded(kit, talk, script, answer, make_fact):
    made = kit(
        script(
            extract=answer(NEW),
            topics={"queries": ["shop cache"]},
            dedup={"known": [], "updates": [{"fact": 1, "known": 1}]},
        ),
        held=[make_fact(OLD, pinned=True)],
    )
    talk.user("redis moved")
    report = await made.one(talk)
    assert report.superseded == 0
    assert sorted(made.texts) == sorted([OLD, NEW])


async def test_an_old_session_memorized_late_does_not_undo_what_is_newer(
    kit, talk, script, answer, make_fact
):
    from datetime import timedelta

    made = kit(
        script(
            extract=answer(NEW),
            topics={"queries": ["shop cache"]},
            dedup={"known": [], "updates": [{"fact": 1, "known": 1}]},
        ),
        held=[make_fact(OLD, timestamp=START + timedelta(days=30))],
    )
    talk.user("redis: port of the shop's cache is 6380")
    report = await made.one(talk)
    assert report.outcome == "known"
    assert made.texts == [OLD]


@pytest.mark.spec("pi/D-02", "pi/M-17")
@pytest.mark.parametrize("reply", [ProviderError("down"), "", "everything is known"])
async def test_a_failing_comparison_never_means_that_everything_is_known(
    kit, talk, script, answer, held, reply
):
    made = kit(
        script(extract=answer(SAME, BROKER), topics={"queries": ["shop cache"]}, dedup=reply),
        held=held,
    )
    talk.user("redis")
    report = await made.one(talk)
    assert [fact.text for fact in report.stored] == [SAME, BROKER]
    assert "passed over: memorize/dedup" in report.reason


@pytest.mark.spec("pi/M-17")
@pytest.mark.parametrize(
    "reply",
    [
        {"known": [0, 9], "updates": []},
        {"known": [], "updates": [{"fact": 7, "known": 1}, {"fact": 1, "known": 99}]},
    ],
)
async def test_numbers_that_do_not_exist_change_nothing(kit, talk, script, answer, held, reply):
    made = kit(
        script(extract=answer(BROKER, SAME), topics={"queries": ["shop cache"]}, dedup=reply),
        held=held,
    )
    talk.user("redis")
    report = await made.one(talk)
    assert [fact.text for fact in report.stored] == [BROKER, SAME]
    assert report.superseded == 0


@pytest.mark.spec("pi/M-17")
async def test_nothing_near_costs_no_call(kit, talk, script, answer):
    made = kit(script(extract=answer(BROKER)))
    talk.user("rabbit")
    await made.one(talk)
    assert made.asked("dedup") == []


@pytest.mark.spec("pi/M-17")
async def test_when_all_is_known_nothing_is_written(kit, talk, script, answer, held):
    made = kit(
        script(
            extract=answer(SAME),
            topics={"queries": ["shop cache"]},
            dedup={"known": [1], "updates": []},
        ),
        held=held,
    )
    talk.user("redis")
    report = await made.one(talk)
    assert (report.outcome, report.known) == ("known", 1)
    assert "retain" not in made.bank.calls
    assert made.asked("summary") == []


@pytest.mark.spec("pi/M-16")
async def test_the_model_sees_at_most_120_stored_facts(kit, talk, script, answer, make_fact):
    held = [make_fact(f"The shop has a cache named c{n}") for n in range(200)]

    class Generous(FakeBank):
        async def recall(self, query):
            from dataclasses import replace

            return await super().recall(replace(query, limit=200))

    bank = Generous("shop-bank")
    made = kit(
        script(extract=answer(BROKER), topics={"queries": ["shop cache"]}), bank=bank, held=held
    )
    talk.user("rabbit")
    await made.one(talk)
    (sent,) = made.asked("dedup")
    listed = sent.split("[stored facts]\n")[1].split("\n[end of stored facts]")[0]
    assert len(listed.splitlines()) == 120


@pytest.mark.spec("br/BR-16")
async def test_the_same_statement_in_four_sessions_is_one_fact(kit, script, answer):
    from hindsight_core.testing.transcripts import TranscriptBuilder

    made = kit(script(extract=answer("The queue prefetch is 20")))
    for number in range(4):
        talk = TranscriptBuilder(f"S{number}")
        talk.user("the queue prefetch is 20")
        talk.assistant("set prefetch=20")
        await made.one(talk)
    talk = TranscriptBuilder("S5")
    talk.user("prefetch for the queue: twenty messages")
    made.model.replies.set("memorize/extract", answer("Prefetch for the queue: twenty messages"))
    assert (await made.one(talk)).outcome == "known"
    assert made.texts == ["The queue prefetch is 20"]
    talk = TranscriptBuilder("S6")
    talk.user("prefetch is now 50")
    made.model.replies.set("memorize/extract", answer("The queue prefetch is now 50"))
    await made.one(talk)
    assert made.texts == ["The queue prefetch is now 50"]
    assert made.bank.facts[fact_id("The queue prefetch is 20")].state == "superseded"


async def test_a_value_that_goes_back_is_current_again(kit, script, answer):
    from datetime import timedelta

    from hindsight_core.testing.transcripts import TranscriptBuilder

    made = kit(script())
    for day, text in enumerate(
        ["The queue prefetch is 20", "The queue prefetch is now 50", "The queue prefetch is 20"]
    ):
        talk = TranscriptBuilder(f"S{day}")
        entry = talk.user(text)
        from dataclasses import replace

        talk.entries[0] = replace(entry, timestamp=START + timedelta(days=day))
        made.model.replies.set("memorize/extract", answer(text))
        await made.one(talk)
    assert made.texts == ["The queue prefetch is 20"]


def test_facts_of_this_module_differ():
    assert len({Fact(fact_id(t), t).id for t in (OLD, NEW, SAME, BROKER)}) == 4
