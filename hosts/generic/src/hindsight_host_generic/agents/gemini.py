"""Gemini CLI: ``settings.json`` hooks with timeouts in milliseconds, a JSONL chat file."""

from __future__ import annotations

from hindsight_host_generic.agents.base import (
    ENDS,
    PROMPT_S,
    STARTS,
    Agent,
    Event,
    Fields,
    envelope,
)

# PreCompress fires before every step of the model, compressed or not: a compaction is noticed in
# the chat file instead.
GEMINI = Agent(
    name="gemini",
    title="Gemini CLI",
    events=(
        Event("SessionStart", "session_start", context=True, notice=True),
        Event("BeforeAgent", "prompt", context=True, notice=True, timeout_s=PROMPT_S),
        Event("AfterAgent", "turn_end", notice=True),
        Event("SessionEnd", "session_end"),
    ),
    emit=envelope,
    fields=Fields(reply=("prompt_response",)),
    dialect="gemini",
    starts=STARTS,
    ends=ENDS,
    proven="ran",
)
