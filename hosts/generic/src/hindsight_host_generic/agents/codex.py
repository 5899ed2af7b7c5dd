"""Codex CLI: ``hooks.json``, replies with no key that its schema does not know."""

from __future__ import annotations

from hindsight_core.host import Limits
from hindsight_host_generic.agents.base import (
    ENDS,
    PROMPT_S,
    STARTS,
    TRIGGERS,
    Agent,
    Event,
    envelope,
)

# One unknown key and Codex drops the whole reply: notices only where its schema has them.
CODEX = Agent(
    name="codex",
    title="Codex CLI",
    events=(
        Event("SessionStart", "session_start", context=True, notice=True),
        Event("UserPromptSubmit", "prompt", context=True, notice=True, timeout_s=PROMPT_S),
        Event("Stop", "turn_end", notice=True),
        Event("SubagentStop", "child_end"),
        Event("PreCompact", "compact_before"),
        Event("PostCompact", "compact_after"),
        # Codex clamps this one to 3 s, whatever the file says.
        Event("SessionEnd", "session_end", timeout_s=3),
    ),
    emit=envelope,
    dialect="codex",
    starts=STARTS,
    ends=ENDS,
    triggers=TRIGGERS,
    limits=Limits(turn_start_ms=28_500, session_end_ms=1_500),
    proven="ran",
)
