"""Reads single session files of agents for ``remember FILE``, told apart by how they begin."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hindsight_core.transcript.entry import Transcript
from hindsight_host_generic.past import session_of

_KEYS: Mapping[str, frozenset[str]] = {
    "claude-code": frozenset({"type", "sessionId"}),
    "codex": frozenset({"type", "payload", "timestamp"}),
    "gemini": frozenset({"sessionId", "projectHash"}),
}


class AgentReader:
    """One agent's session files.

    Args:
        name: The agent.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def accepts(self, path: Path, head: str) -> bool:
        """By the keys of the first record; a chat of one object is read from its beginning."""
        first = _first(head)
        if self.name == "gemini" and not first:
            return '"projectHash"' in head[:2000] and '"sessionId"' in head[:2000]
        return _KEYS[self.name] <= first.keys()

    def read(self, path: Path) -> Transcript:
        """The active path; raises `TranscriptError` when most records are unknown."""
        return session_of(self.name, path).read(None)


def _first(head: str) -> Mapping[str, Any]:
    line = next((line for line in head.splitlines() if line.strip()), "")
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
