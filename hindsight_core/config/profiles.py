"""The four profiles: named sets of values, nothing else.

``pi-hindsight`` is what the defaults are. A plugin may register more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PROFILES: Mapping[str, Mapping[str, Any]] = {
    "pi-hindsight": {},
    "s1enhanced": {
        "bank": {"naming": "verbatim"},
        "scope": {"mode": "domain-tagged"},
        "hindsight": {"timeout_ms": 30000},
        "recall": {
            "mode": "plain",
            "filter": "off",
            "user_bank": True,
            "injection_position": "append",
            "complete": True,
            "live_tokens": 0,
            "max_lines": 24,
            "max_tokens": 800,
            "types": ["observation"],
            "cache_ttl_ms": 60000,
        },
        "mental_models": {"inject": True},
        "tasks": {"detect": False},
        "reminder": {"enabled": False},
        "tools": {
            "further": ["status", "scope", "config", "bank", "mental_model"],
            "parameters": "full",
        },
        "memorize": {"mode": ["transcript"], "every_turns": 1},
        "retain": {
            "document": "session",
            "document_name": "{host}-session:{sessionHash}",
            "form": "json",
            "update_mode": "append",
            "observation_scopes": [["harness:{host}"], ["repo:{repoKey}"]],
        },
        "queue": {
            "flush_max_jobs": 1,
            "flush_timeout_ms": 2000,
            "shutdown_max_jobs": 10,
            "shutdown_timeout_ms": 2000,
        },
        "status": {"style": "text", "max_length": 24, "notify_retain": False},
    },
    "opencode-hindsight": {
        "agent_mode": "opt-in",
        "bank": {"naming": "verbatim"},
        "recall": {
            "mode": "session-start",
            "filter": "off",
            "max_lines": 40,
            "child_max_lines": 0,
            "at_compaction": True,
        },
        "tasks": {"detect": False},
        "reminder": {"enabled": False},
        "memorize": {"mode": ["transcript"], "every_turns": 3},
        "retain": {
            "document": "session",
            "document_name": "{session}",
            "content": {"user": ["text"], "assistant": ["text"], "toolResult": []},
        },
    },
    "active-memory": {
        "recall": {"mode": "off", "user_bank": True},
        "tasks": {"detect": False},
        "reminder": {"enabled": False},
        "memorize": {"mode": ["candidates"]},
        "capture": {"enabled": True},
        "investigation": {"enabled": True},
        "lifecycle": {"enabled": True},
        "steer": {"enabled": True},
        "tools": {"memory": True},
        "log": {"include_text": True, "per_session": True},
    },
}
