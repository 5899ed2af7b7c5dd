"""A stage: render its template, ask the model chain, read the answer.

This is the one way from a pipeline to a model, so that stage marks, repair and the difference
between *empty* and *failed* are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from hindsight_core.errors import AnswerError
from hindsight_core.providers.base import CompletionRequest, Message, Purpose
from hindsight_core.providers.structured import describe, read_answer

if TYPE_CHECKING:
    from pydantic import BaseModel

    from hindsight_core.prompts import Prompts
    from hindsight_core.services import ModelAccess

A = TypeVar("A", bound="BaseModel")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message of the same stage that was answered before, and the answer as it was given."""

    variables: object
    answer: str


@dataclass(frozen=True, slots=True)
class Answered(Generic[A]):
    """An answer as it was read, and as it was written."""

    value: A
    text: str


class Stages:
    """Asks the model chain in the form of templates.

    Args:
        prompts: Renders templates.
        models: The configured chain.
    """

    def __init__(self, *, prompts: Prompts, models: ModelAccess) -> None:
        self.prompts = prompts
        self.models = models

    def available(self, purpose: Purpose) -> bool:
        """Whether any model could answer."""
        return self.models.available(purpose)

    async def ask(
        self,
        stage: str,
        variables: object,
        answer: type[A],
        *,
        purpose: Purpose,
        max_tokens: int | None = None,
        session_id: str | None = None,
    ) -> A:
        """A structured answer, repaired at most once.

        Raises:
            ProviderError: No model of the chain answered.
            AnswerError: It answered twice in a form that cannot be read.
        """
        request = self._request(
            stage, variables, json=True, max_tokens=max_tokens, session_id=session_id
        )
        return (await self._answered(request, answer, purpose=purpose)).value

    async def converse(
        self,
        stage: str,
        variables: object,
        answer: type[A],
        *,
        before: Sequence[Exchange],
        purpose: Purpose,
        max_tokens: int | None = None,
        session_id: str | None = None,
    ) -> Answered[A]:
        """As `ask`, as the next message of a conversation whose beginning a provider can cache.

        Args:
            stage: Its template renders each message of ours.
            variables: Of the newest message.
            answer: The form of the answer.
            before: What was asked and answered earlier, oldest first.
            purpose: Which model chain.
            max_tokens: Bound of the answer.
            session_id: For the provider's cache.

        Raises:
            ProviderError: No model of the chain answered.
            AnswerError: It answered twice in a form that cannot be read.
        """
        newest = self._request(
            stage, variables, json=True, max_tokens=max_tokens, session_id=session_id
        )
        earlier = [
            message
            for exchange in before
            for message in (
                Message("user", self.prompts.render(stage, exchange.variables).text),
                Message("assistant", exchange.answer),
            )
        ]
        request = replace(newest, messages=(*earlier, *newest.messages), cache=True)
        return await self._answered(request, answer, purpose=purpose)

    async def write(
        self,
        stage: str,
        variables: object,
        *,
        purpose: Purpose,
        max_tokens: int | None = None,
        session_id: str | None = None,
    ) -> str:
        """A prose answer, stripped; raises `ProviderError` when no model answered."""
        request = self._request(
            stage, variables, json=False, max_tokens=max_tokens, session_id=session_id
        )
        completion = await self.models.complete(request, purpose=purpose)
        return completion.text.strip()

    async def _answered(
        self, request: CompletionRequest, answer: type[A], *, purpose: Purpose
    ) -> Answered[A]:
        first = await self.models.complete(request, purpose=purpose)
        try:
            return Answered(read_answer(first.text, answer), first.text.strip())
        except AnswerError as error:
            repair = self._repair(request, first.text, error, answer)
        second = await self.models.complete(repair, purpose=purpose)
        return Answered(read_answer(second.text, answer), second.text.strip())

    def _request(
        self,
        stage: str,
        variables: object,
        *,
        json: bool,
        max_tokens: int | None,
        session_id: str | None,
    ) -> CompletionRequest:
        rendered = self.prompts.render(stage, variables)
        return CompletionRequest(
            stage=stage,
            messages=(Message("user", rendered.text),),
            system=mark(rendered.system, stage),
            max_tokens=max_tokens,
            json=json,
            session_id=session_id,
        )

    def _repair(
        self, request: CompletionRequest, answer: str, error: AnswerError, form: type[BaseModel]
    ) -> CompletionRequest:
        from hindsight_core.prompt_contexts import Repair

        stage = f"{request.stage}+repair"
        ask = self.prompts.render(
            "core/repair", Repair(answer=answer, error=str(error), form=describe(form))
        )
        return replace(
            request,
            stage=stage,
            messages=(*request.messages, Message("assistant", answer), Message("user", ask.text)),
            system=(request.system or "").replace(
                f"(hindsight stage: {request.stage})", f"(hindsight stage: {stage})"
            ),
        )


def mark(system: str | None, stage: str) -> str:
    """The system line with the stage mark at its end (protocol.md, Core to host)."""
    return f"{system.strip() if system else ''} (hindsight stage: {stage})".strip()
