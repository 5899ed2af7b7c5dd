"""The hook-JSON agents that this distribution knows, by name."""

from __future__ import annotations

from collections.abc import Mapping

from hindsight_host_generic.agents.base import Agent, Event, Fields, Reply
from hindsight_host_generic.agents.claude_code import CLAUDE_CODE
from hindsight_host_generic.agents.codex import CODEX
from hindsight_host_generic.agents.copilot import COPILOT
from hindsight_host_generic.agents.cursor import CURSOR
from hindsight_host_generic.agents.gemini import GEMINI

AGENTS: Mapping[str, Agent] = {
    agent.name: agent for agent in (CLAUDE_CODE, CODEX, GEMINI, CURSOR, COPILOT)
}

__all__ = ["AGENTS", "Agent", "Event", "Fields", "Reply"]
