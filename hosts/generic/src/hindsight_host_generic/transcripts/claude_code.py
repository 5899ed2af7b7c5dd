"""Claude Code's session file: a tree of records, with side chains of sub-agents in it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hindsight_core.transcript.entry import Entry, ToolResult
from hindsight_core.transcript.shapes import read_content, read_role, read_time
from hindsight_core.transcript.wire import content_id
from hindsight_host_generic.transcripts.base import Link, Record, Said

# Records that only keep the tree together, or are about the program.
_SILENT = frozenset(
    {
        "attachment", "queue-operation", "last-prompt", "file-history-snapshot", "progress",
        "summary", "custom-title", "ai-title", "agent-name", "agent-color", "tag", "pr-link",
        "mode", "permission-mode", "content-replacement", "worktree-state", "marble-origami-commit",
    }
)  # fmt: skip
# What the program writes in the person's name: commands, their output, reminders, interruptions.
_MACHINE = re.compile(
    r"\s*(?:<(?:command-name|command-message|command-args|local-command-|bash-|system-reminder|"
    r"task-notification|user-memory-input)|Caveat: |\[Request interrupted)"
)


def read_claude_code(record: Record, previous: str | None) -> Said:
    """One line of the file."""
    kind = record.get("type")
    if kind in _SILENT:
        return _link(record)
    if record.get("isSidechain") is True:
        # A sub-agent's talk; its result stands in the parent's tool result (br/BR-25).
        return "silent"
    if kind == "system":
        if record.get("subtype") == "compact_boundary":
            return _entry(record, previous, role="host", compaction=True)
        return _link(record)
    message = record.get("message")
    if kind not in ("user", "assistant") or not isinstance(message, Mapping):
        return "unknown"
    made_by_host = (
        record.get("isMeta") is True
        or record.get("isCompactSummary") is True
        or message.get("model") == "<synthetic>"
    )
    return _entry(record, previous, role="host" if made_by_host else None)


def _entry(
    record: Record, previous: str | None, *, role: str | None, compaction: bool = False
) -> Said:
    message = record.get("message")
    inner: Mapping[str, object] = message if isinstance(message, Mapping) else {}
    parts = tuple(read_content(inner.get("content", record.get("content"))).known)
    found = read_role(role or inner.get("role") or record.get("type"))
    if found is None:
        return "unknown"
    if found == "user":
        text = "\n".join(part.text for part in parts if hasattr(part, "text"))
        if parts and all(isinstance(part, ToolResult) for part in parts):
            found = "tool"
        elif _MACHINE.match(text):
            found = "host"
    return Entry(
        id=_text(record, "uuid") or content_id(dict(record), previous),
        role=found,
        parts=parts,
        # A compaction starts a tree of its own and names what it follows beside that.
        parent_id=_text(record, "parentUuid") or _text(record, "logicalParentUuid")
        if "parentUuid" in record
        else previous,
        timestamp=read_time(record.get("timestamp")),
        synthetic=found == "host",
        compaction=compaction,
    )


def _link(record: Record) -> Said:
    uuid = _text(record, "uuid")
    return "silent" if uuid is None else Link(uuid, _text(record, "parentUuid"))


def _text(record: Record, name: str) -> str | None:
    value = record.get(name)
    return value if isinstance(value, str) and value else None
