"""Plans the recall at a session's start: one query that does not depend on the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.prompt_contexts_recall import SessionStart
from hindsight_core.recall.planner_plain import base_query
from hindsight_core.turns import Plan, Turn

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.prompts import Prompts

QUERY = "recall/session_start"


def plan_session(settings: Settings, prompts: Prompts, turn: Turn) -> Plan:
    """The configured query, else the built-in one (oc/O-RCL-1).

    It asks for a whole field, so no fact is evidently about it: all that the bank gives counts.
    """
    text = settings.recall.session_start_prompt or prompts.render(QUERY, SessionStart()).text
    return Plan(queries=(base_query(settings, turn, text.strip()),), judge=False, floor=False)
