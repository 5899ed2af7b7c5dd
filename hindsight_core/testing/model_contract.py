"""What every model must do: subclass `ModelContract` and give it its two fixtures."""

# A suite of tests: asserts are its purpose, names are its documentation.
# ruff: noqa: D102, S101

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from hindsight_core.errors import ProviderError
from hindsight_core.providers.base import Completion, CompletionRequest, Message, Model
from hindsight_core.testing.waiting import value_of

REQUEST = CompletionRequest(
    stage="recall/judge",
    messages=(Message("user", "Which port does the shop use?"),),
    system="(hindsight stage: recall/judge)",
    max_tokens=200,
)
TALK = (
    Message("user", "Which port?"),
    Message("assistant", "Port 8080."),
    Message("user", "Since when?"),
)


async def complete(model: Model, /, **changes: object) -> Completion:
    """One answer to a request like `REQUEST`."""
    return await value_of(model.complete(replace(REQUEST, **changes)))  # type: ignore[arg-type]


class ModelContract:
    """Rules that hold for every model provider.

    Fixtures: ``model`` answers anything; ``failing_model`` is one whose service is away.
    """

    def test_fulfils_the_protocol(self, model: Model) -> None:
        assert isinstance(model, Model)

    async def test_an_answer_has_text_and_says_who_gave_it(self, model: Model) -> None:
        answer = await complete(model)
        assert isinstance(answer, Completion)
        assert answer.text.strip()
        assert answer.model.strip()

    async def test_tokens_are_counted_or_unknown(self, model: Model) -> None:
        usage = (await complete(model)).usage
        if usage is not None:
            assert usage.input_tokens >= 0
            assert usage.output_tokens >= 0

    @pytest.mark.parametrize(
        "changes",
        [
            {"system": None},
            {"messages": TALK},
            {"model": "a-certain-model"},
            {"json": True},
            {"max_tokens": None},
            {"temperature": 0.0},
            {"reasoning": "low"},
            {"cache": True, "session_id": "s1"},
            {"messages": (Message("user", "队列 🚀 " + "word " * 20_000),)},
        ],
        ids=lambda changes: "+".join(changes),
    )
    async def test_every_form_of_request_is_answered(
        self, model: Model, changes: dict[str, object]
    ) -> None:
        assert (await complete(model, **changes)).text.strip()

    async def test_the_request_is_left_as_it_is(self, model: Model) -> None:
        request = replace(REQUEST, messages=TALK)
        await value_of(model.complete(request))
        assert request == replace(REQUEST, messages=TALK)

    async def test_requests_side_by_side_are_all_answered(self, model: Model) -> None:
        answers = await asyncio.gather(*(complete(model) for _ in range(8)))
        assert all(answer.text.strip() for answer in answers)

    async def test_a_cancelled_request_does_not_spoil_the_next(self, model: Model) -> None:
        task = asyncio.ensure_future(complete(model))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert (await complete(model)).text.strip()

    async def test_failure_is_an_error_that_says_what_to_do(self, failing_model: Model) -> None:
        with pytest.raises(ProviderError) as caught:
            await complete(failing_model)
        assert len(str(caught.value).split()) >= 3

    async def test_it_may_be_closed(self, model: Model) -> None:
        await complete(model)
        close = getattr(model, "close", None)
        if close is not None:
            await value_of(close())
