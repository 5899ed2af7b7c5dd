"""Claude Code: ``settings.json`` hooks, a JSONL transcript that is a tree of records."""

from __future__ import annotations

from hindsight_host_generic.agents.base import (
    ENDS,
    PROMPT_S,
    STARTS,
    TRIGGERS,
    Agent,
    Event,
    envelope,
)

CLAUDE_CODE = Agent(
    name="claude-code",
    title="Claude Code",
    events=(
        Event("SessionStart", "session_start", context=True, notice=True),
        Event("UserPromptSubmit", "prompt", context=True, notice=True, timeout_s=PROMPT_S),
        Event("Stop", "turn_end", notice=True),
        Event("SubagentStop", "child_end"),
        Event("PreCompact", "compact_before", notice=True),
        Event("SessionEnd", "session_end"),
    ),
    emit=envelope,
    dialect="claude-code",
    starts=STARTS,
    ends=ENDS,
    triggers=TRIGGERS,
    proven="ran",
)
