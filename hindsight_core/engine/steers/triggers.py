"""When a running loop is looked at: after turns, tool results and thinking (am/A-SCHED-1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.transcript.entry import Entry, Thinking, ToolResult

if TYPE_CHECKING:
    from hindsight_core.config.settings.capture import Steer


@dataclass(frozen=True, slots=True)
class News:
    """What has happened since the path was looked at last."""

    turns: int = 0
    tool_results: int = 0
    thinking: int = 0


class PathWatch:
    """Tells what is new on the path; what stood there at the first look is not."""

    def __init__(self) -> None:
        self._last: str | None = None
        self._begun = False
        self._thought = 0

    def news(self, path: Sequence[Entry], *, partial: Entry | None = None) -> News:
        """What was added, with the message that the model is still writing.

        Args:
            path: The active path.
            partial: That message so far; its thinking is not counted again when it is whole.
        """
        new = self._new(path)
        thinking = sum(_thought(entry) for entry in new)
        counted = min(self._thought, thinking)
        self._thought -= counted
        thinking -= counted
        if new:
            self._thought = 0
        if partial is not None and (thought := _thought(partial)) > self._thought:
            thinking += thought - self._thought
            self._thought = thought
        results = (isinstance(part, ToolResult) for entry in new for part in entry.parts)
        turns = sum(entry.role == "assistant" for entry in new)
        return News(turns, sum(results), thinking)

    def _new(self, path: Sequence[Entry]) -> Sequence[Entry]:
        last, begun = self._last, self._begun
        self._begun = True
        self._last = path[-1].id if path else None
        if not begun:
            return ()
        if last is None:
            return path
        for place in range(len(path) - 1, -1, -1):
            if path[place].id == last:
                return path[place + 1 :]
        # Another branch, or a path that was cut: nothing of it is known to be new.
        return ()


class Triggers:
    """Counts up to the settings' numbers; when one is reached all begin anew.

    Args:
        settings: ``steer``.
    """

    def __init__(self, settings: Steer) -> None:
        self._settings = settings
        self.reset()

    def reset(self) -> None:
        """A look has begun, or a prompt."""
        self._turns = self._results = self._thinking = 0

    def due(self, news: News) -> bool:
        """Count; whether it is time to look."""
        self._turns += news.turns
        self._results += news.tool_results
        self._thinking += news.thinking
        settings = self._settings
        due = (
            self._turns >= settings.every_turns
            or self._results >= settings.every_tool_results
            or self._thinking >= settings.thinking_characters
        )
        if due:
            self.reset()
        return due


def _thought(entry: Entry) -> int:
    if entry.role != "assistant":
        return 0
    return sum(len(part.text) for part in entry.parts if isinstance(part, Thinking))
