"""What every decision backend must do: subclass `DecisionContract`, give it a ``backend``."""

# A suite of tests: asserts are its purpose, names are its documentation.
# ruff: noqa: D102, S101

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from hindsight_core.decision.base import DecisionBackend
from hindsight_core.hookspecs import DecisionRequest
from hindsight_core.testing.waiting import value_of

QUESTIONS = {
    "inject": "Does this turn need memory?",
    "read:shop": "The project's bank",
    "read:me": "What the user likes, in every project",
    "write:shop": "The project's bank",
}
STATE = DecisionRequest(
    questions=tuple(QUESTIONS),
    last_user_message="Why did we choose PostgreSQL?",
    task_state="- migrate the orders table",
    activity="The migration was written and its tests pass.",
)


async def answer(
    backend: DecisionBackend, state: DecisionRequest, questions: Mapping[str, str]
) -> Mapping[str, bool]:
    """The backend's answer."""
    asked = replace(state, questions=tuple(questions))
    return await value_of(backend.answer(asked, questions))


class DecisionContract:
    """Rules that hold for every decision backend."""

    def test_fulfils_the_protocol(self, backend: DecisionBackend) -> None:
        assert isinstance(backend, DecisionBackend)

    async def test_one_bool_for_each_question(self, backend: DecisionBackend) -> None:
        given = await answer(backend, STATE, QUESTIONS)
        assert set(QUESTIONS) <= set(given)
        assert all(isinstance(given[question], bool) for question in QUESTIONS)

    @pytest.mark.parametrize("question", QUESTIONS)
    async def test_any_question_may_come_alone(
        self, backend: DecisionBackend, question: str
    ) -> None:
        given = await answer(backend, STATE, {question: QUESTIONS[question]})
        assert isinstance(given[question], bool)

    async def test_no_question_is_no_failure(self, backend: DecisionBackend) -> None:
        assert dict(await answer(backend, STATE, {})) == {}

    async def test_any_bank_name_is_taken(self, backend: DecisionBackend) -> None:
        questions = {"read:Größe & Co/№1": "", "write:" + "x" * 200: "a long name"}
        assert set(questions) <= set(await answer(backend, STATE, questions))

    @pytest.mark.parametrize(
        "changes",
        [
            {"task_state": None, "activity": None},
            {"last_user_message": ""},
            {"last_user_message": "why? " * 20_000},
            {"last_user_message": "为什么选 PostgreSQL？🚀"},
        ],
        ids=["unknown", "empty", "long", "foreign"],
    )
    async def test_any_state_is_answered(
        self, backend: DecisionBackend, changes: dict[str, str | None]
    ) -> None:
        given = await answer(backend, replace(STATE, **changes), QUESTIONS)  # type: ignore[arg-type]
        assert set(QUESTIONS) <= set(given)

    async def test_questions_side_by_side_do_not_mix(self, backend: DecisionBackend) -> None:
        asked = [{question: text} for question, text in QUESTIONS.items()]
        given = await asyncio.gather(*(answer(backend, STATE, one) for one in asked))
        assert [set(one) & set(QUESTIONS) for one in given] == [set(one) for one in asked]
