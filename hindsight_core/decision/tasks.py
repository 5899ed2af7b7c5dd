"""The open tasks of a session, from whoever can read them (s1/S-DEC-11)."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import HindsightError
from hindsight_core.isolation import call_async
from hindsight_core.plugins.registries import CORE

if TYPE_CHECKING:
    from hindsight_core.decision.base import TaskReader
    from hindsight_core.plugins import Hooks
    from hindsight_core.plugins.registries import Registered
    from hindsight_core.services import BridgeAccess
    from hindsight_core.transcript.entry import Entry

logger = logging.getLogger("hindsight_core.decision")
FAILURES = 3


class OpenTasks:
    """Asks the host, then each registered reader, third parties before the built-in ones.

    The first that has a list is the one that counts, also when nothing in it is open. A reader
    that fails has no list; after three failures in a row it is not asked again in this session.

    Args:
        hooks: Registered readers.
        bridge: The host, which is asked when it declared ``tasks``.
        timeout_s: Limit of one reader.
    """

    def __init__(self, hooks: Hooks, bridge: BridgeAccess | None, *, timeout_s: float) -> None:
        self._hooks = hooks
        self._bridge = bridge
        self._timeout_s = timeout_s
        self._made: dict[str, TaskReader] = {}
        self._failed: dict[str, int] = {}

    async def read(self, entries: Sequence[Entry]) -> tuple[str, ...] | None:
        """Open tasks in their order; () when none is open, None when nobody can say.

        Args:
            entries: The active path as the host gave it, with its own records.
        """
        told = await self._host()
        if told is not None:
            return told
        for item in sorted(self._hooks.task_readers.values(), key=lambda i: i.distribution == CORE):
            found = await self._reader(item, entries)
            if found is not None:
                return found
        return None

    async def _host(self) -> tuple[str, ...] | None:
        if self._bridge is None or "tasks" not in self._bridge.capabilities:
            return None
        try:
            return host_tasks(await self._bridge.request("host/tasks", {}))
        except HindsightError as error:
            logger.info("no tasks from the host: %s", error)
            return None

    async def _reader(self, item: Registered, entries: Sequence[Entry]) -> tuple[str, ...] | None:
        if self._failed.get(item.name, 0) >= FAILURES:
            return None
        try:
            reader = self._made.get(item.name) or item.create()
            self._made[item.name] = reader
            found = _tasks(await self._value(item, reader, entries))
        except Exception as error:
            self._failed[item.name] = self._failed.get(item.name, 0) + 1
            logger.warning(
                "task reader %s of %s failed: %s: %s",
                item.name,
                item.distribution,
                type(error).__name__,
                error,
            )
            return None
        self._failed.pop(item.name, None)
        return found

    async def _value(self, item: Registered, reader: TaskReader, entries: Sequence[Entry]) -> Any:  # noqa: ANN401
        if item.distribution == CORE:
            given = reader.read(entries)
            return await given if inspect.isawaitable(given) else given
        arguments = {"entries": tuple(entries)}
        return await call_async(
            reader.read, arguments, seconds=self._timeout_s, stuck=lambda change: None
        )


def host_tasks(reply: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The host's own answer; anything but ``kind: ok`` with a list of items is no list."""
    items = reply.get("openItems")
    if reply.get("kind") != "ok" or not isinstance(items, list):
        return None
    lines = [_host_item(item) for item in items]
    if any(line is None for line in lines):
        return None
    goal = reply.get("goal")
    head = (f"goal: {goal.strip()}",) if isinstance(goal, str) and goal.strip() and lines else ()
    return (*head, *(line for line in lines if line))


def _host_item(item: object) -> str | None:
    if not isinstance(item, Mapping) or not isinstance(item.get("title"), str):
        return None
    phase, why = item.get("phase"), item.get("explanation")
    line = f"[{phase}] {item['title']}" if isinstance(phase, str) and phase else item["title"]
    return f"{line}: {why}" if isinstance(why, str) and why.strip() else line


def _tasks(found: object) -> tuple[str, ...] | None:
    if found is None:
        return None
    if isinstance(found, str) or not isinstance(found, Sequence):
        raise TypeError(f"read() gave {type(found).__name__}, not a list of tasks or None")
    if not all(isinstance(task, str) for task in found):
        raise TypeError("read() gave a list with something else than texts")
    return tuple(task.strip() for task in found if task.strip())
