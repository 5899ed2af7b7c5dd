"""Cursor: ``hooks.json`` of its agent, wired from its documentation."""

from __future__ import annotations

from typing import Any

from hindsight_host_generic.agents.base import PROMPT_S, Agent, Event, Fields, Payload, Reply


def emit(event: Event, reply: Reply, payload: Payload) -> dict[str, Any]:
    """Cursor's form: flat, in snake case; a prompt is always let through."""
    out: dict[str, Any] = {"continue": True} if event.kind == "prompt" else {}
    if reply.context and event.context:
        out["additional_context"] = reply.context
    return out


CURSOR = Agent(
    name="cursor",
    title="Cursor",
    events=(
        Event("sessionStart", "session_start", context=True),
        Event("beforeSubmitPrompt", "prompt", context=True, timeout_s=PROMPT_S),
        Event("stop", "turn_end"),
        Event("preCompact", "compact_before"),
        Event("sessionEnd", "session_end"),
    ),
    emit=emit,
    fields=Fields(
        session=("conversation_id", "session_id"),
        cwd=("workspace_roots", "workspace_root", "cwd"),
        prompt=("prompt", "user_prompt"),
        reply=("last_assistant_message", "text"),
        turn=("generation_id", "turn_id"),
        child=("subagent_id", "agent_id"),
    ),
    starts={"resume": "resume"},
    triggers={"manual": "manual", "auto": "threshold"},
)
