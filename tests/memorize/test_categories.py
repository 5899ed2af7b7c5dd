"""Categories in prompts, in answers and in documents."""

from __future__ import annotations

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.memorize.categories import categories, headings, kind_of
from hindsight_core.prompts import Prompts

SPEED = {"key": "speed", "clause": "measured speeds and their limits", "example": "p95 is 80 ms"}


def made(**memorize: object):
    return categories(Settings.model_validate({"memorize": memorize}), Prompts())


@pytest.mark.spec("pi/K-01", "pi/M-26")
def test_six_are_on_and_two_are_off():
    shown = made().texts
    assert [text.key for text in shown] == [
        "goal",
        "decisions",
        "constraints",
        "knowhow",
        "pitfalls",
        "facts",
    ]
    assert all(text.label and text.heading and text.clause and text.example for text in shown)
    every = made(categories={"code": "on", "domain": "on"}).texts
    assert [text.key for text in every][6:] == ["code", "domain"]
    assert all(text.clause and text.example for text in every)


@pytest.mark.spec("pi/K-02", "pi/M-26")
async def test_the_prompt_shows_what_is_on_and_excludes_what_is_banned(kit, talk, script):
    pipeline = kit(
        script(), memorize={"categories": {"goal": "ban", "facts": "off", "domain": "on"}}
    )
    talk.user("hello")
    await pipeline.one(talk)
    (sent,) = pipeline.asked("extract")
    wanted, excluded = sent.split("Excluded here.")
    known = made(categories={"domain": "on"}).texts
    for text in known:
        if text.key in ("decisions", "constraints", "knowhow", "pitfalls", "domain"):
            assert f'- {text.heading} (category "{text.key}"): {text.clause}' in wanted
            assert text.example in wanted
    goal = next(text for text in known if text.key == "goal")
    assert "however durable" in excluded
    assert f"- {goal.heading}: {goal.clause}" in excluded
    assert goal.example not in sent
    assert 'category "facts"' not in sent
    assert 'category "code"' not in sent


@pytest.mark.spec("pi/K-02")
async def test_a_fact_of_a_banned_category_is_dropped_however_durable(kit, talk, script):
    pipeline = kit(
        script(
            extract={
                "facts": [
                    {"text": "The aim is a faster checkout", "category": "Goal"},
                    {"text": "Redis 7 is the cache", "category": "facts"},
                ]
            }
        ),
        memorize={"categories": {"goal": "ban"}},
    )
    talk.user("hello")
    report = await pipeline.one(talk)
    assert [fact.text for fact in report.stored] == ["Redis 7 is the cache"]


@pytest.mark.spec("pi/K-02")
def test_an_unknown_state_counts_as_the_default():
    settings = Settings().memorize.model_copy(update={"categories": {"goal": "maybe", "code": 1}})
    shown = categories(Settings().model_copy(update={"memorize": settings}), Prompts()).texts
    assert [text.key for text in shown] == [text.key for text in made().texts]


@pytest.mark.spec("pi/K-03")
def test_categories_of_ones_own():
    shown = made(custom_categories=[SPEED, {**SPEED, "key": "pace", "label": "Pace of it"}]).texts
    speed, pace = shown[6:]
    assert (speed.key, speed.label, speed.heading) == ("speed", "speed", "speed")
    assert (speed.clause, speed.example) == (SPEED["clause"], SPEED["example"])
    assert (pace.label, pace.heading) == ("Pace of it", "Pace of it")


@pytest.mark.spec("pi/K-03")
@pytest.mark.parametrize(
    "custom",
    [
        {**SPEED, "key": "goal"},
        {**SPEED, "clause": "  "},
        {"key": "speed"},
        {**SPEED, "state": "off"},
        {**SPEED, "key": "  "},
    ],
)
def test_what_is_no_category_of_ones_own(custom):
    try:
        shown = made(custom_categories=[custom])
    except ValueError:
        return  # refused by the settings already
    assert shown.texts == made().texts


@pytest.mark.spec("pi/K-03")
def test_a_category_of_ones_own_may_be_banned_without_a_clause():
    (banned,) = (
        t for t in made(custom_categories=[{"key": "gossip", "state": "ban"}]).texts if t.banned
    )
    assert banned.key == "gossip"


@pytest.mark.spec("pi/K-03", "pi/K-06")
async def test_facts_of_ones_own_category_stand_under_its_heading(kit, talk, script):
    pipeline = kit(
        script(extract={"facts": [{"text": "p95 of the search is 80 ms", "category": "speed"}]}),
        memorize={"custom_categories": [{**SPEED, "heading": "Measured"}]},
    )
    talk.user("hello")
    report = await pipeline.one(talk)
    assert pipeline.bank.documents[report.document_id].text.startswith("# Measured\n- p95")
    assert report.stored[0].category == "speed"


@pytest.mark.spec("pi/K-04")
async def test_without_any_category_the_instruction_is_generic(kit, talk, script):
    keys = ("goal", "decisions", "constraints", "knowhow", "pitfalls", "facts")
    pipeline = kit(script(), memorize={"categories": dict.fromkeys(keys, "off")})
    talk.user("hello")
    await pipeline.one(talk)
    (sent,) = pipeline.asked("extract")
    assert "Harvest any lasting fact about this project" in sent
    assert "under these headings" not in sent
    assert "Excluded here" not in sent


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("decisions", "decisions"),
        ("Decisions", "decisions"),
        ("decision", "decisions"),
        ("Know-how", "knowhow"),
        ("KNOW HOW", "knowhow"),
        ("know_how", "knowhow"),
        ("Goals", "goal"),
        ("", None),
        (None, None),
        ("something else", None),
    ],
)
def test_what_models_call_a_category(name, key):
    assert made().key(name) == key


def test_the_kind_comes_from_the_category():
    kinds = {key: kind_of(key) for key in headings(Settings())}
    assert kinds == {
        "goal": "fact",
        "decisions": "decision",
        "constraints": "constraint",
        "knowhow": "knowhow",
        "pitfalls": "pitfall",
        "facts": "fact",
        "code": "fact",
        "domain": "fact",
    }
    assert kind_of(None) == "fact"


@pytest.mark.spec("pi/K-07")
def test_recall_knows_no_categories(prompts):
    import dataclasses

    from hindsight_core.prompt_check import sample
    from hindsight_core.prompt_contexts import STAGES

    stages = [name for name in STAGES if name.startswith(("recall/", "blocks/"))]
    assert stages
    for name in stages:
        assert "categories" not in {field.name for field in dataclasses.fields(STAGES[name])}
        shown = prompts.render(name, sample(STAGES[name])).text
        assert "Know-how" not in shown
        assert "categor" not in shown.lower()
