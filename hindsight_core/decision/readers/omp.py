"""The phases that omp's own todo tool keeps (s1/S-DEC-11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hindsight_core.transcript.entry import Entry, ToolResult

NAMES = ("todo", "user_todo_edit")
_OPEN = ("in_progress", "blocked", "pending")
_CLOSED = ("completed", "abandoned")


class OmpTodo:
    """Reads the newest list: a result of the tool ``todo``, or the person's own edit of it."""

    def read(self, entries: Sequence[Entry]) -> list[str] | None:
        """Open tasks with their phase; None when there is no list, or none that is whole."""
        newest = next((entry for entry in reversed(entries) if _holds_list(entry)), None)
        if newest is None or newest.record is None:
            return None
        return _open(newest.record.data)


def _holds_list(entry: Entry) -> bool:
    record = entry.record
    if record is None or record.name not in NAMES or "phases" not in record.data:
        return False
    failed = any(isinstance(part, ToolResult) and part.is_error for part in entry.parts)
    return not failed and record.data.get("op") != "view"


def _open(data: Mapping[str, Any]) -> list[str] | None:
    phases = data.get("phases")
    if not isinstance(phases, list):
        return None
    lines: list[str] = []
    for phase in phases:
        tasks = phase.get("tasks") if isinstance(phase, Mapping) else None
        if not isinstance(tasks, list) or not all(map(_is_task, tasks)):
            return None
        name = phase.get("name")
        head = f"[{name}] " if isinstance(name, str) and name else ""
        lines += [f"{head}{_line(task)}" for task in tasks if task["status"] in _OPEN]
    return lines


def _is_task(task: object) -> bool:
    return (
        isinstance(task, Mapping)
        and isinstance(task.get("content"), str)
        and task.get("status") in _OPEN + _CLOSED
    )


def _line(task: Mapping[str, Any]) -> str:
    text = str(task["content"]).strip()
    if task["status"] == "pending":
        return text
    blocker = task.get("blocker")
    because = f": {blocker}" if isinstance(blocker, str) and blocker else ""
    return f"{text} ({task['status'].replace('_', ' ')}{because})"
