"""The text backend: the chat model is asked for a table of yes and no."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import BaseModel, StrictBool

from hindsight_core.errors import ConfigError
from hindsight_core.prompt_contexts_decision import Route, RouteQuestion, TaskState

if TYPE_CHECKING:
    from hindsight_core.hookspecs import DecisionRequest
    from hindsight_core.stages import Stages

STAGE = "decision/route"


class RouteAnswer(BaseModel):
    """``{"answers": {id: bool}}``; what is left out is noticed by the ladder."""

    answers: dict[str, StrictBool]


class TextBackend:
    """Asks stage ``decision/route`` (s1/S-DEC-13).

    Args:
        stages: Asks the model chain.
    """

    def __init__(self, stages: Stages) -> None:
        self._stages = stages

    async def answer(
        self, state: DecisionRequest, questions: Mapping[str, str]
    ) -> Mapping[str, bool]:
        """What the model said.

        Raises:
            ConfigError: There is no model.
            ProviderError: No model answered, or not in this form.
        """
        if not questions:
            return {}
        if not self._stages.available("recall"):
            raise ConfigError("no model is configured (models.provider, models.model)")
        answer = await self._stages.ask(
            STAGE, self._variables(state, questions), RouteAnswer, purpose="recall"
        )
        return answer.answers

    def _variables(self, state: DecisionRequest, questions: Mapping[str, str]) -> Route:
        tasks = state.task_state
        if tasks is None:
            unknown = TaskState(known=False, tasks=())
            tasks = self._stages.prompts.render("decision/tasks", unknown).text.strip()
        return Route(
            last_user_message=state.last_user_message,
            task_state=tasks,
            activity=state.activity or "",
            questions=tuple(RouteQuestion(id, asks) for id, asks in questions.items()),
        )
