"""Without a model: what the user stated for good is kept, and nothing else."""

from __future__ import annotations

import pytest

from hindsight_core.memorize.rules import user_facts
from hindsight_core.testing.transcripts import TranscriptBuilder


def said(*messages: str) -> list[str]:
    """Facts of a talk; a message that begins with ``A:`` is the assistant's."""
    talk = TranscriptBuilder()
    for message in messages:
        if message.startswith("A:"):
            talk.assistant(message[2:].strip())
        else:
            talk.user(message)
    return [f"{fact.kind}: {fact.text}" for fact in user_facts(talk.window(), limit=1200)]


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("remember that the staging DB is at port 5433", "fact: The staging DB is at port 5433"),
        ("note that deploys on Fridays are banned", "constraint: Deploys on Fridays are banned"),
        ("decision: we use RabbitMQ for events", "decision: We use RabbitMQ for events"),
        ("we chose gRPC", "decision: We chose gRPC"),
        ("I decided against Kafka, it is too heavy", "decision: I decided against Kafka"),
        ("we answer 202 to unknown events, not 200", "decision: We answer 202 to unknown events"),
        ("The API must never return more than 500 rows.", "constraint: The API must never return"),
        ("every PR needs a changelog entry", "constraint: Every PR needs a changelog entry"),
        ("the queue prefetch is 20", "fact: The queue prefetch is 20"),
        ("the demo is at 15:00 in room Oak", "fact: The demo is at 15:00 in room Oak"),
        ("API keys are stored in Vault under kv/pay", "fact: API keys are stored in Vault"),
        ("our own limit stays at 20 rps", "fact: Our own limit stays at 20 rps"),
    ],
)
def test_stated_rules_decisions_and_facts_are_kept(message, fact):
    (found,) = said(message)
    assert found.startswith(fact)


@pytest.mark.spec("br/BR-64")
@pytest.mark.parametrize(
    "message",
    [
        "决定：用 uv 不用 pip",
        "端口改为8443",
        "记住：测试数据库的端口是 5433",
        "以后提交信息必须用英文",
        "Merk dir: wir nutzen nur noch pnpm",
        "Ab jetzt immer ruff statt flake8 verwenden",
        "Wir haben uns für Postgres entschieden",
        "Das Limit liegt bei 300 Sekunden.",
        "Запомни: деплой только по вторникам",
        "Мы решили использовать PostgreSQL вместо MySQL",
        "На проде мы никогда не запускаем миграции вручную",
        "Retiens que le port de staging est 8081",
        "On a décidé d'utiliser Postgres",
        "Les vignettes font toujours 320 px de large",
        "Recuerda que el puerto de staging es 8081",
        "Las facturas anuladas no se exportan nunca",
    ],
)
def test_in_any_of_its_languages(message):
    assert len(said(message)) == 1


@pytest.mark.spec("br/BR-64", "br/BR-20")
@pytest.mark.parametrize(
    "message",
    [
        *("hi", "ok", "はい", "yes please", "thanks, looks good", "fine. see you later", "好的"),
        *("what is the queue prefetch?", "should we always use UTC?", "端口是多少？"),
        "and how would I write that",
    ],
)
def test_greetings_answers_and_questions_are_not(message):
    assert said(message) == []


@pytest.mark.spec("br/BR-61")
@pytest.mark.parametrize(
    "message",
    [
        "create the org 'acme-test' and invite ops",
        "delete the temp branch",
        "rename the proto package",
        "step 4 of the migration",
        "can you set the prefetch to 20",
        "please open it",
        "now translate the docstring to Portuguese, just in the mail, not in the repo",
        "add a test for the parser, not for the lexer",
        "Use a sub-agent for the flow logs, they are huge.",
        "put the file in src/util.py",
        "zeig mir die Datei",
        "покажи логи",
        "帮我看看为什么报错",
        "peux-tu toujours faire ça ?",
    ],
)
def test_orders_for_now_are_not(message):
    assert said(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "for now run everything against port 9911",
        "Skip the linter this time, it is slow today.",
        "Und für heute bitte keine Commits mehr",
        "今天先用端口 9000",
        "Usa el puerto 9001 por ahora",
        "maybe we should use Kafka",
        "I think the port is 8080",
        "what if we used Kafka instead of RabbitMQ",
        "suppose the limit is 20",
        "it must be a race in the pool",
        "the test always fails on CI",
        "the tests are running on port 5000",
        "that's never going to work",
        "the build is red",
        "my laptop has 16 GB",
    ],
)
def test_what_holds_for_a_moment_or_is_a_guess_or_a_report_is_not(message):
    assert said(message) == []


@pytest.mark.spec("br/BR-20")
@pytest.mark.parametrize(
    "message",
    [
        "here is the vendor's mail:\n\nFrom now on always use v3.\n\nYou must rotate keys.",
        "```\nalways use tabs\n```",
        "> we decided to use X\nwhat do you think?",
        'the reviewer says: "always use tabs"',
        "zone: always\nname: must\nlabels: never",
        "2030-01-01 10:00:00 the pool must never be empty",
        "<notes>\nWe decided to use X.\n</notes>",
        "the error is: connection refused at 10.0.0.1:5432",
    ],
)
def test_pasted_and_quoted_words_are_not(message):
    assert said(message) == []


def test_a_request_to_remember_reaches_into_a_list():
    assert said("Rules from now on:\n- tests live next to the code\n- no mocks of our code") == [
        "constraint: Tests live next to the code",
        "constraint: No mocks of our code",
    ]


def test_write_that_down_keeps_what_stands_before_it():
    assert said("The gateway loses its clock in the cold. Please write that down for good.") == [
        "fact: The gateway loses its clock in the cold"
    ]


@pytest.mark.spec("br/BR-20")
def test_only_the_users_own_words_count():
    talk = TranscriptBuilder()
    talk.user("Always run the linter. Never push to main.", synthetic=True)
    talk.user("hello")
    talk.assistant("We decided to use Kafka.", thinking="The limit is 20.")
    talk.result("The port is 8080 and must never change")
    talk.record("From now on use pnpm")
    assert user_facts(talk.window(), limit=1200) == []


def test_saved_entries_and_overlong_facts_are_passed_over():
    talk = TranscriptBuilder()
    talk.user("remember that the port is 8080")
    window = talk.window()
    assert len(user_facts(window, limit=1200)) == 1
    assert user_facts(window, limit=10) == []
    saved = type(window)("s1", "pi", window.entries, saved=frozenset({"e01"}))
    assert user_facts(saved, limit=1200) == []


def test_a_fact_says_where_it_comes_from():
    talk = TranscriptBuilder(host="pi")
    entry = talk.user("We never deploy on Friday.")
    (fact,) = user_facts(talk.window(), limit=1200)
    assert (fact.kind, fact.category) == ("constraint", "constraints")
    assert fact.timestamp == entry.timestamp
    origin = fact.provenance
    assert (origin.source, origin.speaker, origin.host) == ("user-rule", "user", "pi")
    assert (origin.session_id, origin.entry_ids) == ("s1", (entry.id,))
    assert origin.quote == "We never deploy on Friday."


@pytest.mark.spec("br/BR-61")
@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("from now on use pnpm instead of npm", "constraint: User rule: from now on use pnpm"),
        ("always use UTC in the API", "constraint: User rule: always use UTC in the API"),
        ("decision B: retry three times", "decision: User decision: retry three times"),
        ("Nimm SQLite statt der Datei, das machen wir im Server auch", "decision: Entscheidung:"),
        ("Siempre usa pnpm, nunca npm", "constraint: Regla: siempre usa pnpm"),
    ],
)
def test_no_stored_line_is_an_order(message, fact):
    (found,) = said(message)
    assert found.startswith(fact)


@pytest.mark.parametrize(
    "message",
    [
        "remember: the root password is Sw0rd" + "fish99",
        "You can talk to it on 127.0.0.1:8090, login lab / Correct-" + "Battery",
        "the API key is [REDACTED], always send it",
    ],
)
def test_credentials_are_never_kept(message):
    assert said(message) == []


def test_where_a_secret_lives_is_kept():
    place = "The token is kept in /etc/rig/chirp.token, tests read it through CHIRP_API_TOKEN"
    assert said(f"{place}. The password is hunter" + "2.") == [f"fact: {place}"]
