"""The suite for decision backends lets a good one pass, and no lazy one."""

from __future__ import annotations

import pytest

from hindsight_core.testing import DecisionContract


class Backend:
    def answer(self, state, questions):
        asks = "?" in state.last_user_message
        return {question: asks or question.startswith("write:") for question in questions}


class TestBackend(DecisionContract):
    @pytest.fixture
    def backend(self):
        return Backend()


@pytest.mark.parametrize("given", [{}, {"inject": 1}, {"inject": None}])
async def test_an_incomplete_answer_does_not_pass(given):
    class Lazy:
        async def answer(self, state, questions):
            return given

    with pytest.raises((AssertionError, KeyError)):
        await DecisionContract().test_any_question_may_come_alone(Lazy(), "inject")
