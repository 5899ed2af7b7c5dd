"""Codex's rollout file: what was said are its ``response_item`` records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hindsight_core.transcript.entry import Entry, Part, Role, Thinking, ToolCall, ToolResult
from hindsight_core.transcript.shapes import plain_text, read_content, read_time
from hindsight_core.transcript.wire import content_id
from hindsight_host_generic.transcripts.base import Record, Said

_SILENT = frozenset(
    {
        "session_meta", "event_msg", "turn_context", "world_state", "token_usage_record",
        "ghost_snapshot", "session_state", "inter_agent_communication",
    }
)  # fmt: skip
_SILENT_ITEMS = frozenset({"ghost_snapshot", "compaction", "compaction_trigger", "other"})
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call"})
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
# Contents that the program puts into a message of the user's role.
_MACHINE = ("<environment_context", "<user_instructions", "<user_action", "# AGENTS.md", "<skill",
            "<turn_aborted", "<subagent_notification", "<permissions")  # fmt: skip


def read_codex(record: Record, previous: str | None) -> Said:
    """One line of the file."""
    kind, payload = record.get("type"), record.get("payload")
    if kind in _SILENT:
        return "silent"
    if not isinstance(payload, Mapping):
        return "unknown"
    if kind == "compacted":
        text = read_content(plain_text(payload.get("message"))).known
        return _entry(record, payload, previous, "host", tuple(text), compaction=True)
    if kind != "response_item":
        return "unknown"
    item = payload.get("type")
    if item in _SILENT_ITEMS:
        return "silent"
    if item == "message":
        parts = tuple(read_content(payload.get("content")).known)
        return _entry(record, payload, previous, _role(payload, parts), parts)
    if item == "reasoning":
        thought = plain_text(payload.get("summary")) or plain_text(payload.get("content"))
        return _entry(record, payload, previous, "assistant", (Thinking(thought),))
    if item in _CALLS:
        return _entry(record, payload, previous, "assistant", (_call(payload),))
    if item in _RESULTS:
        return _entry(record, payload, previous, "tool", (_result(payload),))
    return "unknown"


def _role(payload: Mapping[str, Any], parts: tuple[Part, ...]) -> Role:
    role = payload.get("role")
    if role == "assistant":
        return "assistant"
    if role != "user":
        return "host"
    kinds = _kinds(payload)
    if kinds and not any(kind.startswith("user.") for kind in kinds):
        return "host"
    text = "\n".join(part.text for part in parts if hasattr(part, "text")).lstrip()
    return "host" if text.startswith(_MACHINE) else "user"


def _kinds(payload: Mapping[str, Any]) -> list[str]:
    """What newer versions say about where a message comes from."""
    passed = payload.get("internal_chat_message_metadata_passthrough")
    kinds = passed.get("content_item_kinds") if isinstance(passed, Mapping) else None
    return [k for k in kinds if isinstance(k, str)] if isinstance(kinds, list) else []


def _call(payload: Mapping[str, Any]) -> ToolCall:
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = {"value": given}
    arguments = dict(given) if isinstance(given, Mapping) else {"value": given}
    name = payload.get("name") or payload.get("type")
    return ToolCall(str(payload.get("call_id") or ""), str(name), arguments)


def _result(payload: Mapping[str, Any]) -> ToolResult:
    output = payload.get("output")
    failed = isinstance(output, Mapping) and output.get("success") is False
    return ToolResult(
        str(payload.get("call_id") or ""), "tool", plain_text(output), is_error=failed
    )


def _entry(
    record: Record,
    payload: Mapping[str, Any],
    previous: str | None,
    role: Role,
    parts: tuple[Part, ...],
    *,
    compaction: bool = False,
) -> Entry:
    given = payload.get("id")
    return Entry(
        id=given if isinstance(given, str) and given else content_id(dict(record), previous),
        role=role,
        parts=parts,
        parent_id=previous,
        timestamp=read_time(record.get("timestamp")),
        synthetic=role == "host",
        compaction=compaction,
    )
