from __future__ import annotations

import json
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from hindsight_core.errors import AnswerError, HindsightError
from hindsight_core.providers.fitting import Rejects
from hindsight_core.providers.structured import describe, read_answer

SYNONYMS = AliasChoices("text", "content", "fact", "statement", "what")


class FactItem(BaseModel):
    text: Annotated[str, Field(min_length=1, validation_alias=SYNONYMS)]
    category: str = "other"


class Facts(BaseModel):
    facts: tuple[FactItem, ...]


class CountedFacts(BaseModel):
    facts: tuple[FactItem, ...]
    rejected: Rejects = ()


class Judge(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    score: int = Field(ge=0, le=100)
    keep: tuple[int, ...]


class Queries(BaseModel):
    queries: tuple[str, ...] = ()
    reason: str | None = None


class Update(BaseModel):
    fact: int
    known: int


class Dedup(BaseModel):
    known: tuple[int, ...]
    updates: tuple[Update, ...] = ()


class Action(BaseModel):
    action: Literal["add", "replace", "noop"]
    target_id: str | None = None


class Route(BaseModel):
    answers: dict[str, bool]


TTL = Facts(facts=(FactItem(text="Cache TTL is 90 s"),))


@pytest.mark.spec("br/BR-44", "am/A-PROMPT-2")
@pytest.mark.parametrize(
    "text",
    [
        '[{"text":"Cache TTL is 90 s"}]',
        '```json\n{"facts":[{"text":"Cache TTL is 90 s"}]}\n```',
        'Sure! Here you go:\n{"facts":[{"text":"Cache TTL is 90 s"}]} Hope it helps',
        '<think>hmm</think>{"facts":["Cache TTL is 90 s"]}',
    ],
)
def test_the_usual_slips_of_form_lose_nothing(text: str) -> None:
    assert read_answer(text, Facts) == TTL


@pytest.mark.spec("br/BR-44")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1. **what**: Cache TTL is 90 s\n2. **when**: N/A", "no JSON"),
        ('{"facts":[{"text":"Cache TTL is 90 s"},{"text":"Cache', "cut off"),
    ],
)
def test_prose_and_cut_off_json_are_asked_for_again(text: str, says: str) -> None:
    with pytest.raises(AnswerError, match=says):
        read_answer(text, Facts)


@pytest.mark.spec("br/BR-43")
def test_wrong_items_are_counted_and_synonyms_are_read() -> None:
    text = (
        '{"facts":[{"content":"Uses Redis 7"},{"text":""},{"text":null},'
        '{"text":"Deploys on Fridays are banned"}]}'
    )
    answer = read_answer(text, CountedFacts)
    assert [fact.text for fact in answer.facts] == ["Uses Redis 7", "Deploys on Fridays are banned"]
    assert len(answer.rejected) == 2
    assert answer.rejected[0].startswith("item 2: text")
    assert answer.rejected[1].startswith("item 3: text")


@pytest.mark.spec("br/BR-43")
def test_an_answer_of_wrong_items_only_is_a_failure() -> None:
    with pytest.raises(AnswerError, match="item 1"):
        read_answer('{"facts":[{"text":""},{"text":null}]}', CountedFacts)


def test_no_items_is_an_answer() -> None:
    assert read_answer('{"facts": []}', CountedFacts) == CountedFacts(facts=())


def test_without_a_place_for_rejects_one_wrong_item_fails_the_answer() -> None:
    with pytest.raises(AnswerError, match=r"facts\.1"):
        read_answer('{"facts": [{"text": "a"}, {"category": "x"}]}', Facts)


@pytest.mark.spec("pi/D-18")
def test_fenced_json_is_an_answer() -> None:
    text = '```json\n{"queries": ["redis ttl"]}\n```'
    assert read_answer(text, Queries) == Queries(queries=("redis ttl",))


@pytest.mark.spec("pi/D-18")
def test_no_queries_without_a_reason_is_an_answer() -> None:
    assert read_answer('{"shouldQuery":false,"queries":[]}', Queries) == Queries()


@pytest.mark.spec("pi/D-18")
@pytest.mark.parametrize(
    "text",
    [
        '{"score": "85", "keep": ["1", "3"]}',
        '{"score": "85%", "keep": ["#1", "3."]}',
        '{"score": 85.2, "keep": "1, 3"}',
        '{"Score": "85/100", "keep": [1.0, 3.0], "note": "both match"}',
    ],
)
def test_numbers_as_strings_are_numbers(text: str) -> None:
    assert read_answer(text, Judge) == Judge(score=85, keep=(1, 3))


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 85, "keep": [1, 3,],}',
        "{'score': 85, 'keep': [1, 3]}",
        "{score: 85, keep: [1, 3]}",
        '{"score": 85, /* both */ "keep": [1, 3] // yes\n}',
        '{"score": 85 "keep": [1, 3]}',
        '"{\\"score\\": 85, \\"keep\\": [1, 3]}"',
        '{"answer": {"score": 85, "keep": [1, 3]}}',
        '[{"score": 85, "keep": [1, 3]}]',
        'The draft {"score": 10, "keep": []} was wrong: {"score": 85, "keep": [1, 3]}',
        'thought {"score": 1, "keep": []}</think>\n{"score": 85, "keep": [1, 3]}',
        '{"score": 85, "keep": [1, 3]}\n\nFacts [1] and [3] answer it.',
    ],
)
def test_broken_json_with_its_content_there_is_read(text: str) -> None:
    assert read_answer(text, Judge) == Judge(score=85, keep=(1, 3))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (r'{"facts": [{"text": "lives in C:\Users\dev"}]}', r"lives in C:\Users\dev"),
        ('{"facts": [{"text": "say "hi" first"}]}', 'say "hi" first'),
        ('{"facts": [{"text": "one\ntwo"}]}', "one\ntwo"),
        ('{"facts": [{"text": "strip </think> tags"}]}', "strip </think> tags"),
        ('{"facts": [{"text": "a \\ud800 b\\u0000"}]}', "a � b"),
        ('{"facts": [{"text": "braces } ] { in text"}]}', "braces } ] { in text"),
        ('{"facts": [{"text": "```json\\n{}\\n``` is a fence"}]}', "```json\n{}\n``` is a fence"),
    ],
)
def test_the_text_of_a_fact_survives(text: str, wanted: str) -> None:
    assert read_answer(text, Facts).facts[0].text == wanted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "I could not find anything worth keeping.",
        "Only fact [1] is supported by the transcript.",
        "{}",
        "[]{",
        '{"something": "else"}',
        '{"facts": "',
        '{"facts": [{"text": "a"}',
        '{"facts": [{"text": "a", "entities": ["x"]}, {"text": "b',
        '```json\n{"facts": [{"text": "a"}]\n```',
        "null",
        '"facts"',
        "42",
    ],
)
def test_nothing_is_invented(text: str) -> None:
    with pytest.raises(AnswerError):
        read_answer(text, Facts)


def test_a_bare_list_needs_a_form_with_one_list() -> None:
    with pytest.raises(AnswerError):
        read_answer("[1, 2]", Judge)
    with pytest.raises(AnswerError):
        read_answer("[1, 2]", Dedup)


def test_names_in_another_style_and_case_are_known() -> None:
    assert read_answer('{"action": "ADD", "targetId": "f1"}', Action) == Action(
        action="add", target_id="f1"
    )


def test_keys_of_a_mapping_are_left_alone() -> None:
    answer = read_answer('{"answers": {"inject": "true", "read:shop": false}}', Route)
    assert answer.answers == {"inject": True, "read:shop": False}


def test_null_takes_the_default_where_there_is_one() -> None:
    assert read_answer('{"queries": null, "reason": "small talk"}', Queries).queries == ()
    with pytest.raises(AnswerError):
        read_answer('{"score": 5, "keep": null}', Judge)


def test_the_error_names_the_key_for_the_repair() -> None:
    with pytest.raises(AnswerError, match="score: Input should be less than or equal to 100"):
        read_answer('{"score": 500, "keep": []}', Judge)


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"facts":[', "{'a':"])
def test_deep_nesting_is_refused_and_not_a_crash(opening: str) -> None:
    closing = "".join({"[": "]", "{": "}"}[sign] for sign in reversed(opening) if sign in "[{")
    for text in (opening * 20_000, opening * 3000 + "1" + closing * 3000):
        with pytest.raises(AnswerError):
            read_answer(text, Facts)


def test_a_huge_answer_is_refused() -> None:
    with pytest.raises(AnswerError, match="longer than"):
        read_answer('{"facts": ["' + "a" * 1_000_001 + '"]}', Facts)


def test_a_form_is_described_in_one_line() -> None:
    assert describe(CountedFacts) == '{"facts": [{"text": str, "category"?: str}]}'
    assert describe(Judge) == '{"score": int, "keep": [int]}'
    assert describe(Action) == ('{"action": "add" | "replace" | "noop", "target_id"?: str}')
    assert describe(Route) == '{"answers": {str: bool}}'


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=40)
WORDS = st.text("abcdefghij ÄßД.,!?\n", max_size=60)
ANSWERS = st.one_of(
    st.builds(
        lambda texts: Facts(facts=tuple(FactItem(text=t) for t in texts)),
        st.lists(TEXTS, max_size=4),
    ),
    st.builds(
        lambda score, keep: Judge(score=score, keep=tuple(keep)),
        st.integers(0, 100),
        st.lists(st.integers(1, 30), max_size=5),
    ),
    st.builds(
        lambda known, pairs: Dedup(
            known=tuple(known), updates=tuple(Update(fact=a, known=b) for a, b in pairs)
        ),
        st.lists(st.integers(1, 30), max_size=4),
        st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=3),
    ),
)
NOISE = st.sampled_from(
    [
        "{prose}{json}{prose}",
        "{prose}\n```json\n{json}\n```\n{prose}",
        "{prose}\n```\n{json}\n```",
        '<think>{prose} {{"facts": []}}</think>{json}',
        "{prose}</think>\n{json}",
    ]
)


@settings(deadline=None)
@given(answer=ANSWERS, noise=NOISE, prose=WORDS, indent=st.sampled_from([None, 2]))
def test_any_answer_in_noise_is_read_back(
    answer: BaseModel, noise: str, prose: str, indent: int | None
) -> None:
    whole = json.dumps(answer.model_dump(), ensure_ascii=False, indent=indent)
    text = noise.format(json=whole, prose=prose)
    assert read_answer(text, type(answer)) == answer


@settings(deadline=None)
@given(answer=ANSWERS, data=st.data())
def test_a_cut_answer_never_passes_for_a_whole_one(answer: BaseModel, data: st.DataObject) -> None:
    whole = json.dumps(answer.model_dump())
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    with pytest.raises(AnswerError):
        read_answer(cut, type(answer))


@settings(deadline=None)
@given(
    text=st.one_of(
        st.text(max_size=200),
        st.text("{}[]\",:\\ab1' \n<think>/`", max_size=120),
        st.text('{}[]", :facts"text"', max_size=120),
    ),
    form=st.sampled_from([Facts, CountedFacts, Judge, Queries, Dedup, Action, Route]),
)
def test_whatever_is_written_nothing_but_answer_error_comes_out(
    text: str, form: type[BaseModel]
) -> None:
    try:
        assert isinstance(read_answer(text, form), form)
    except HindsightError as error:
        assert isinstance(error, AnswerError)
