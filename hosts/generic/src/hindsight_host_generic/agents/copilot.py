"""Copilot CLI: ``.github/hooks/*.json``, camel-case payloads, wired from its documentation."""

from __future__ import annotations

from typing import Any

from hindsight_host_generic.agents.base import PROMPT_S, Agent, Event, Fields, Payload, Reply


def emit(event: Event, reply: Reply, payload: Payload) -> dict[str, Any]:
    """Context goes into the transformed prompt; a session start has a key of its own."""
    if not reply.context or not event.context:
        return {}
    if event.kind != "prompt":
        return {"additionalContext": reply.context}
    before = payload.get("transformedPrompt", payload.get("prompt"))
    if not isinstance(before, str):
        return {}
    return {"modifiedTransformedPrompt": f"{before}\n\n{reply.context}"}


COPILOT = Agent(
    name="copilot",
    title="Copilot CLI",
    events=(
        Event("sessionStart", "session_start", context=True),
        Event("userPromptTransformed", "prompt", context=True, timeout_s=PROMPT_S),
        Event("agentStop", "turn_end"),
        Event("preCompact", "compact_before"),
        Event("sessionEnd", "session_end"),
    ),
    emit=emit,
    fields=Fields(
        session=("sessionId", "session_id"),
        transcript=("transcriptPath", "transcript_path"),
        prompt=("prompt", "initialPrompt"),
        reply=("lastAssistantMessage", "response"),
        turn=("turnId", "promptId"),
        child=("agentId",),
        reason=("reason", "stopReason"),
    ),
    starts={"resume": "resume", "new": "new"},
    ends={"clear": "new"},
    triggers={"manual": "manual", "auto": "threshold"},
)
