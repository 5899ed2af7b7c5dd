"""The detector: does the newest message start another task (pi/T-03 to T-08)?"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hindsight_core.errors import BudgetExceeded, PromptError, ProviderError
from hindsight_core.prompt_contexts_recall import TaskDetect
from hindsight_core.stages import Exchange, Stages

if TYPE_CHECKING:
    from hindsight_core.prompt_fields import TaskTurn
    from hindsight_core.recall.tasks.state import TaskState, Told

logger = logging.getLogger("hindsight_core.recall")
MAX_TOKENS = 120


@dataclass(frozen=True, slots=True)
class Detected:
    """What the detector said.

    Attributes:
        changed: Another task begins.
        title: Its name, or the current one's where it had none.
        query: What to search for; never empty when changed.
        reply: The answer as it was written; None when there was none that counts.
    """

    changed: bool = False
    title: str = ""
    query: str = ""
    reply: str | None = None


UNCHANGED = Detected()


async def detect(
    stages: Stages, state: TaskState, *, session_id: str, timeout_s: float
) -> Detected:
    """Ask; an error or an answer that cannot be read is *unchanged*, and never raised (pi/T-08)."""
    if not state.turns:
        return UNCHANGED
    from hindsight_core.recall.answers import DetectAnswer

    before, newest = conversation(state)
    try:
        async with asyncio.timeout(timeout_s):
            answered = await stages.converse(
                "tasks/detect",
                newest,
                DetectAnswer,
                before=before,
                purpose="recall",
                max_tokens=MAX_TOKENS,
                session_id=session_id,
            )
    except (ProviderError, BudgetExceeded, PromptError, TimeoutError) as error:
        logger.info("no answer about a change of task: %s", error or "too slow")
        return UNCHANGED
    except Exception:
        logger.exception("the task detector failed")
        return UNCHANGED
    said = answered.value
    if not (said.changed and said.query):
        return Detected(title="" if said.changed else said.title, reply=answered.text)
    return Detected(
        changed=True,
        title=said.title or said.query,
        query=said.query,
        reply=answered.text,
    )


def conversation(state: TaskState) -> tuple[list[Exchange], TaskDetect]:
    """The turns as alternating messages: what was asked and answered, and the newest message.

    Turns that were not answered are told together with the next one (pi/T-04).
    """
    before: list[Exchange] = []
    pending: list[TaskTurn] = []
    # A verdict on the newest turn would leave nothing to ask.
    for item in _open_ended(state.turns):
        pending.append(item.turn)
        if item.verdict is not None:
            before.append(Exchange(_message(state, pending, first=not before), item.verdict))
            pending = []
    return before, _message(state, pending, first=not before)


def _open_ended(turns: tuple[Told, ...]) -> Iterable[Told]:
    return (*turns[:-1], replace(turns[-1], verdict=None))


def _message(state: TaskState, turns: list[TaskTurn], *, first: bool) -> TaskDetect:
    return TaskDetect(
        history=tuple(turns),
        title=(state.title or "") if first else "",
        past_titles=state.past_titles if first else (),
    )
