"""Reads session files of pi and omp: a header line, then a tree of records (version 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from hindsight_core.transcript.entry import Entry, Role, Text, ToolResult, Transcript
from hindsight_core.transcript.path import active_path
from hindsight_core.transcript.readers.base import Collector, derived_session_id
from hindsight_core.transcript.readers.lines import Lines, parse_object
from hindsight_core.transcript.record import Record, state_record, task_record
from hindsight_core.transcript.shapes import Parts, plain_text, read_content, read_role, read_time
from hindsight_core.transcript.wire import content_id

# Records that say nothing themselves but are links of the tree.
_SILENT = frozenset(
    {
        "custom",
        "model_change",
        "thinking_level_change",
        "usage",
        "context_edit",
        "label",
        "session_info",
        "mode_change",
        "service_tier_change",
        "session_init",
        "ttsr_injection",
        "title",
        "title_change",
        "mcp_tool_selection",
    }
)
_SUMMARIES = frozenset({"compaction", "branch_summary"})
_SUMMARY_ROLES = {"compactionsummary": True, "branchsummary": False}
_LINKS = 200_000
_BEFORE_HEADER = 4


class PiReader:
    """Session JSONL of pi and omp; of a branched session the path to the last record.

    Args:
        name: ``pi`` or ``omp``: their files look the same.
    """

    def __init__(self, name: str = "pi") -> None:
        self.name = name

    def accepts(self, path: Path, head: str) -> bool:
        """A header of type ``session``, or records of type ``message``, in the first lines."""
        for line in head.splitlines()[:20]:
            record = parse_object(line)
            if record is None:
                continue
            if isinstance(record.get("message"), Mapping) and "type" in record:
                return True
            if record.get("type") == "session":
                return _only_header(head) or "version" in record
            if record.get("type") in _SILENT | _SUMMARIES | {"custom_message"}:
                return True
            if "role" in record:
                return False
        return False

    def read(self, path: Path, *, tail_bytes: int | None = None) -> Transcript:
        """The active path; raises `TranscriptError` when most records are unknown."""
        lines = Lines(path, tail_bytes=tail_bytes)
        tree = _Tree()
        header = session_header(path)
        for record in lines.records():
            tree.take(record)
        tree.collector.require(path, "records of a pi or omp session")
        entries = active_path(tuple(tree.collector), tree.leaf)
        session_id, cwd = header.get("id"), header.get("cwd")
        return Transcript(
            session_id=session_id
            if isinstance(session_id, str) and session_id
            else derived_session_id(iter(entries)),
            host=self.name,
            entries=entries,
            cwd=cwd if isinstance(cwd, str) and cwd else None,
            unknown=tree.collector.unknown + tree.collector.unknown_parts + lines.oversized,
            skipped=tree.collector.skipped,
            repaired=lines.repaired,
        )


def read_branch(
    records: Iterable[Mapping[str, Any]], *, said: Callable[[str], str | None] | None = None
) -> tuple[Entry, ...]:
    """Entries of a branch that a running pi or omp gave as its session records, in their order.

    Args:
        records: The records, or some of them.
        said: Which entry a record among earlier ones is or follows.
    """
    tree = _Tree(said)
    for record in records:
        tree.take(record)
    return tuple(tree.collector)


class _Tree:
    """Records in file order; silent ones are bridged, so that their children keep a parent."""

    def __init__(self, said: Callable[[str], str | None] | None = None) -> None:
        self._earlier = said or (lambda record_id: record_id)
        self.collector = Collector()
        self.leaf: str | None = None
        self._bridges: dict[str, str | None] = {}
        self._previous: str | None = None

    def take(self, record: Mapping[str, Any] | None) -> None:
        """One record of the file."""
        if record is not None and record.get("type") == "session":
            return
        self.collector.records += 1
        if record is None or not isinstance(record.get("type"), str):
            self.collector.unknown += 1
            return
        given = record.get("id")
        entry_id = given if isinstance(given, str) and given else content_id(record, self._previous)
        parent = self._parent(record)
        entry = self._entry(record, entry_id, parent)
        if entry is None:
            if len(self._bridges) < _LINKS:
                self._bridges[entry_id] = parent
            self.leaf = parent
        else:
            self.collector.add(entry)
            self.leaf = entry_id
        self._previous = entry_id

    def _said(self, record_id: str) -> str | None:
        """The entry that a record is, or that stands before it on its branch."""
        if record_id in self._bridges:
            return self._bridges[record_id]
        return self._earlier(record_id)

    def _parent(self, record: Mapping[str, Any]) -> str | None:
        parent = record["parentId"] if "parentId" in record else self._previous
        return self._bridges.get(parent, parent) if isinstance(parent, str) else None

    def _entry(self, record: Mapping[str, Any], entry_id: str, parent: str | None) -> Entry | None:
        kind = record["type"]
        when = read_time(record.get("timestamp"))
        if kind in _SUMMARIES or kind == "custom_message":
            content = record.get("summary", record.get("content"))
            text = Text(plain_text(content))
            return Entry(
                entry_id, "host", (text,), parent, when, synthetic=True,
                compaction=kind == "compaction", kept=_kept(record),
            )  # fmt: skip
        noted = task_record(record.get("customType"), record.get("data")) or state_record(
            record.get("customType"), record.get("data"), known=self._said
        )
        if kind == "custom" and noted is not None:
            return Entry(entry_id, "host", (), parent, when, synthetic=True, record=noted)
        message = record.get("message")
        if kind == "message" and isinstance(message, Mapping):
            role, parts, compaction = _message(message)
            if role is not None:
                self.collector.unknown_parts += parts.unknown
                when = when or read_time(message.get("timestamp"))
                host = role == "host"
                return Entry(
                    entry_id, role, tuple(parts.known), parent, when, synthetic=host,
                    compaction=compaction, record=_details(message, role),
                )  # fmt: skip
        if kind not in _SILENT:
            self.collector.unknown += 1
        return None


def _kept(record: Mapping[str, Any]) -> str | None:
    kept = record.get("firstKeptEntryId")
    return kept if isinstance(kept, str) and kept else None


def _message(message: Mapping[str, Any]) -> tuple[Role | None, Parts, bool]:
    name = message.get("role")
    kind = name.lower() if isinstance(name, str) else ""
    if kind in _SUMMARY_ROLES:
        return "host", read_content(plain_text(message.get("summary"))), _SUMMARY_ROLES[kind]
    if kind == "bashexecution":
        return "tool", _executed(message), False
    role = read_role(name)
    if role == "tool":
        result = ToolResult(
            tool_call_id=str(message.get("toolCallId") or ""),
            name=str(message.get("toolName") or "tool"),
            text=plain_text(message.get("content")),
            is_error=message.get("isError") is True,
        )
        return role, Parts([result]), False
    return role, read_content(message.get("content")), False


def _details(message: Mapping[str, Any], role: Role) -> Record | None:
    """What a task tool keeps beside its text."""
    if role != "tool" or message.get("isError") is True:
        return None
    return task_record(message.get("toolName"), message.get("details"))


def _executed(message: Mapping[str, Any]) -> Parts:
    """A command that the person ran: its output is a tool's, not their words."""
    text = f"$ {plain_text(message.get('command'))}\n{plain_text(message.get('output'))}"
    failed = message.get("exitCode") not in (0, None)
    return Parts([ToolResult("", "bash", text, is_error=failed)])


def session_header(path: Path) -> Mapping[str, Any]:
    """The record that names the session; omp writes its title before it.

    Raises:
        TranscriptError: The file cannot be read.
    """
    for record in islice(Lines(path).records(), _BEFORE_HEADER):
        if record is not None and record.get("type") == "session":
            return record
    return {}


def _only_header(head: str) -> bool:
    return len([line for line in head.splitlines() if line.strip()]) == 1
