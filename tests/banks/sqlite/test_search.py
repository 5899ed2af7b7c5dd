from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hindsight_core.banks.sqlite.candidates import candidates
from hindsight_core.memory import Query, Scope, TagFilter
from hindsight_core.testing.banks import document, fact

DAY = datetime(2030, 3, 4, 9, tzinfo=UTC)
SHOP = (
    "CART_TTL is 72 h; carts live in Redis under cart:{customer}",
    "PAYMENT_TTL is 900 seconds",
    "uplinkRetryLimit in radio/uplink.c is 5",
    "The watchdog timeout is 8 s",
    "Backups of the database are kept for 35 days",
    "Never deploy on a Friday",
    "The Grafana dashboards are provisioned from ops/grafana",
    "Invoices are rounded half-up because finance asked",
    "Queue consumers acknowledge after the transaction",
    "Tests may not open sockets",
)


@pytest.fixture
async def shop(bank):
    for number, text in enumerate(SHOP):
        when = DAY + timedelta(days=number)
        await bank.retain(document(f"d{number}", fact(text, timestamp=when)))
    return bank


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("CART_TTL", 0),
        ("cart ttl", 0),
        ("cartTtl", 0),
        ("uplink_retry_limit", 2),
        ("radio/uplink.c", 2),
        ("watchdgo timout", 3),
        ("how long do we retain database copies?", 4),
        ("Wie lange werden Datenbanksicherungen behalten?", 4),
        ("сколько дней хранятся резервные копии базы данных?", 4),
        ("数据库备份保留多少天？", 4),
        ("Grafanna", 6),
    ],
)
async def test_every_spelling_and_language_finds_its_fact(shop, found, query, answer):
    assert (await found(shop, query))[0] == SHOP[answer]


async def test_chinese_facts_are_found_by_part_of_a_run(bank, found):
    await bank.retain(document("d1", "生产数据库的端口是五四三二", "会议室在三楼"))
    assert await found(bank, "数据库端口", limit=1) == ["生产数据库的端口是五四三二"]


async def test_the_conversation_before_a_follow_up_is_searched_too(shop, found):
    query = "and how long does it live?"
    talk = "user: where do carts live? assistant: carts are in Redis"
    assert (await found(shop, query, context=talk))[0] == SHOP[0]


async def test_silence_is_possible(shop):
    for query in ("which Jenkins plugins are installed?", "SESSION_TTL", "how is Snowflake sized"):
        assert await shop.recall(Query(query, min_score=0.3)) == [], query
    for query in ("CART_TTL", "when may we deploy?", "watchdgo timout"):
        assert await shop.recall(Query(query, min_score=0.3)), query


async def test_scores_fall_from_the_best_and_tell_how_they_came(shop):
    hits = await shop.recall(Query("cart redis database backups"))
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert {"words", "coverage", "superseded"} <= hits[0].parts.keys()


@pytest.mark.parametrize(
    "query", ["", "   ", "?!", "the of and", '"OR" NEAR( * ^ : -', "\x00", "💥"]
)
async def test_no_query_is_an_error(shop, query):
    assert isinstance(await shop.recall(Query(query)), list)


@pytest.mark.spec("br/BR-79")
async def test_age_never_buries_the_right_fact(bank, found):
    old = fact("Invoices are rounded half-up because finance asked", timestamp=DAY)
    later = DAY + timedelta(days=700)
    talk = [fact(f"small talk {n} about invoices", timestamp=later) for n in range(300)]
    await bank.import_facts([old, *talk])
    assert (await found(bank, "how are invoices rounded?"))[0] == old.text


@pytest.mark.parametrize(
    ("before", "after", "query"),
    [
        (
            "The debug shell runs at 9600 baud",
            "Shell speed went up from 9600 to 115200 baud",
            "shell baud",
        ),
        (
            "Nightly dumps of the orders database are kept for 14 days",
            "Dumps of the orders database are now kept for 35 days",
            "how long are database dumps kept?",
        ),
        (
            "Releases go out on Thursdays",
            "Releases go out on Tuesdays now",
            "when do releases go out",
        ),
    ],
)
async def test_the_later_of_two_values_comes_first(bank, before, after, query):
    await bank.import_facts(
        [fact(before, timestamp=DAY), fact(after, timestamp=DAY + timedelta(days=30))]
        + [fact(text, timestamp=DAY) for text in SHOP]
    )
    hits = await bank.recall(Query(query))
    assert hits[0].fact.text == after
    [old] = [hit for hit in hits if hit.fact.text == before]
    assert old.parts["superseded"] == 1
    assert old.score < hits[0].score / 2


async def test_a_later_fact_on_another_thing_takes_nothing_over(bank, found):
    await bank.import_facts(
        [
            fact("retry_limit of the mail queue is 4", timestamp=DAY),
            fact("The export job runs at 02:40", timestamp=DAY + timedelta(days=30)),
            fact("A cart holds at most 150 lines", timestamp=DAY + timedelta(days=31)),
        ]
    )
    hits = await bank.recall(Query("retry_limit mail queue"))
    assert hits[0].fact.text == "retry_limit of the mail queue is 4"
    assert hits[0].parts["superseded"] == 0


async def test_facts_of_one_talk_do_not_replace_each_other(bank):
    await bank.import_facts(
        [
            fact("Ann: the red bike is in the garage", timestamp=DAY),
            fact("Bob: the red bike is in the garage now", timestamp=DAY + timedelta(minutes=2)),
        ]
    )
    hits = await bank.recall(Query("red bike garage"))
    assert [hit.parts["superseded"] for hit in hits] == [0, 0]


async def test_a_neighbour_in_the_document_lends_its_words(bank, found):
    await bank.retain(document("d1", "The importer was rewritten", "It needs 4 GB now"))
    await bank.retain(document("d2", "The office has plants"))
    assert await found(bank, "importer") == ["The importer was rewritten", "It needs 4 GB now"]


async def test_a_tag_filter_does_not_starve_a_search(bank, found):
    many = [fact(f"port {n} is open", tags=("noise",)) for n in range(400)]
    await bank.import_facts([*many, fact("port 9999 is open", tags=("wanted",))])
    scope = Scope(tags=TagFilter(("wanted",), "any_strict"))
    assert await found(bank, "which port is open", scope=scope) == ["port 9999 is open"]


async def test_common_words_rank_but_do_not_search_in_a_large_bank(bank, found):
    many = [fact(f"alpha beta gamma number {n}") for n in range(7000)]
    await bank.import_facts([*many, fact("alpha beta zeta")])
    assert (await found(bank, "alpha beta zeta"))[0] == "alpha beta zeta"
    assert len(await found(bank, "alpha beta", limit=30)) == 30


@pytest.mark.spec("br/BR-13")
async def test_banks_never_mix(open_bank, found):
    shop, blog = open_bank("shop"), open_bank("blog")
    await shop.retain(document("d1", "auth.py in shop uses JWT"))
    await blog.retain(document("d1", "auth.py in blog uses cookies"))
    assert await found(shop, "how does auth.py work?") == ["auth.py in shop uses JWT"]
    assert await found(blog, "how does auth.py work?") == ["auth.py in blog uses cookies"]
    assert (await shop.list_facts(search="cookies")).total == 0


def test_without_words_nothing_is_looked_up():
    assert candidates(None, [], Scope(), limit=5) == []
