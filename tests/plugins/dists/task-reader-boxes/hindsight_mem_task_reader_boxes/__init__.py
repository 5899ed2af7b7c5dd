"""Reads the task list that an extension keeps in records of its own."""

from __future__ import annotations

from hindsight_core import hookimpl


class Boxes:
    """Finds the newest record named ``box-tasks``."""

    async def read(self, entries):
        """Titles of what is open; None without such a record."""
        for entry in reversed(entries):
            if entry.record is not None and entry.record.name == "box-tasks":
                return [task["title"] for task in entry.record.data["tasks"] if task["open"]]
        return None


@hookimpl
def hindsight_register_task_readers(register):
    """Asked before the built-in ones."""
    register("boxes", Boxes)
