"""The task list of rpiv-todo, in both of its forms (s1/S-DEC-11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hindsight_core.transcript.entry import Entry

STATE, TOOL = "rpiv-todo-state", "todo"
_OPEN = ("in_progress", "pending", "deferred")
_CLOSED = ("completed", "deleted")


class RpivTodo:
    """Reads the newest ``rpiv-todo-state`` entry, else the newest result of its tool ``todo``."""

    def read(self, entries: Sequence[Entry]) -> list[str] | None:
        """Open tasks, those in work first; None when there is no list, or none that is whole."""
        for name in (STATE, TOOL):
            newest = next((e for e in reversed(entries) if _is(e, name)), None)
            if newest is not None and newest.record is not None:
                return _open(newest.record.data)
        return None


def _is(entry: Entry, name: str) -> bool:
    record = entry.record
    if record is None or record.name != name:
        return False
    # omp's own tool has the same name and keeps phases.
    return name == STATE or "tasks" in record.data


def _open(data: Mapping[str, Any]) -> list[str] | None:
    tasks, number = data.get("tasks"), data.get("nextId")
    if not isinstance(tasks, list) or isinstance(number, bool) or not isinstance(number, int):
        return None
    if not all(map(_is_task, tasks)):
        return None
    waiting = [task for task in tasks if task["status"] in _OPEN]
    return [_line(task) for task in sorted(waiting, key=lambda t: _OPEN.index(t["status"]))]


def _is_task(task: object) -> bool:
    return (
        isinstance(task, Mapping)
        and isinstance(task.get("subject"), str)
        and task.get("status") in _OPEN + _CLOSED
    )


def _line(task: Mapping[str, Any]) -> str:
    status = task["status"].replace("_", " ")
    line = f"[{status}] {task['subject'].strip()}"
    if isinstance(task.get("description"), str) and task["description"].strip():
        line += f": {task['description'].strip()}"
    blocked = task.get("blockedBy")
    if isinstance(blocked, list) and blocked:
        line += f" (blocked by {', '.join(map(str, blocked))})"
    owner = task.get("owner")
    return f"{line} ({owner})" if isinstance(owner, str) and owner.strip() else line
