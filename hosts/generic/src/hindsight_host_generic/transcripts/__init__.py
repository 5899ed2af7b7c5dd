"""Transcript files of agents: how each spells a record, followed while the file grows."""

from __future__ import annotations

from collections.abc import Mapping

from hindsight_host_generic.transcripts.base import Dialect
from hindsight_host_generic.transcripts.claude_code import read_claude_code
from hindsight_host_generic.transcripts.codex import read_codex
from hindsight_host_generic.transcripts.copilot import read_copilot
from hindsight_host_generic.transcripts.gemini import read_gemini
from hindsight_host_generic.transcripts.plain import read_plain

DIALECTS: Mapping[str, Dialect] = {
    "claude-code": read_claude_code,
    "codex": read_codex,
    "gemini": read_gemini,
    "copilot": read_copilot,
    "plain": read_plain,
}

__all__ = ["DIALECTS", "Dialect"]
