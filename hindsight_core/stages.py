"""A stage: render its template, ask the model chain, read the answer.

This is the one way from a pipeline to a model, so that stage marks, repair and the difference
between *empty* and *failed* are the same everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from hindsight_core.errors import AnswerError
from hindsight_core.prompt_contexts import Repair
from hindsight_core.providers.base import CompletionRequest, Message, Purpose
from hindsight_core.providers.structured import describe, read_answer

if TYPE_CHECKING:
    from pydantic import BaseModel

    from hindsight_core.prompts import Prompts
    from hindsight_core.services import ModelAccess

A = TypeVar("A", bound="BaseModel")


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
        completion = await self.models.complete(request, purpose=purpose)
        try:
            return read_answer(completion.text, answer)
        except AnswerError as error:
            repair = self._repair(request, completion.text, error, answer)
        second = await self.models.complete(repair, purpose=purpose)
        return read_answer(second.text, answer)

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
        stage = f"{request.stage}+repair"
        ask = self.prompts.render(
            "core/repair", Repair(answer=answer, error=str(error), form=describe(form))
        )
        return CompletionRequest(
            stage=stage,
            messages=(*request.messages, Message("assistant", answer), Message("user", ask.text)),
            system=(request.system or "").replace(
                f"(hindsight stage: {request.stage})", f"(hindsight stage: {stage})"
            ),
            max_tokens=request.max_tokens,
            json=True,
            session_id=request.session_id,
        )


def mark(system: str | None, stage: str) -> str:
    """The system line with the stage mark at its end (protocol.md, Core to host)."""
    return f"{system.strip() if system else ''} (hindsight stage: {stage})".strip()
