"""What of an entry is kept: the parts that the settings name, nothing of our own tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hindsight_core.transcript.entry import Entry, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from hindsight_core.config.settings import Retain

SUMMARY_CHARS = 500
COMMAND_CHARS = 200
LOOKING = frozenset({"read", "grep", "find", "find_files", "ls", "glob"})
OWN_PREFIX = "hindsight_"
_EVERYTHING = {
    "user": ("text",),
    "assistant": ("text", "thinking", "toolCall"),
    "toolResult": ("content",),
}
_TELLING = ("command", "path", "file_path", "file", "pattern", "query", "url", "description")
_THOUGHT = re.compile(
    r"<\s*(think|thinking|thought|reasoning)\s*>.*?(?:<\s*/\s*\1\s*>|\Z)", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Said:
    """One kept part of an entry.

    Attributes:
        kind: ``text``, ``thinking``, ``toolCall`` or ``toolResult``.
        text: Never blank, but for a tool call with its arguments.
        name: Of the tool.
        arguments: Of a tool call that is kept whole.
        is_error: The tool failed.
    """

    kind: str
    text: str = ""
    name: str = ""
    arguments: Mapping[str, Any] | None = None
    is_error: bool = False


class Projection:
    """Chooses the parts to keep (s1/S-RET-2, oc/O-TX-2).

    Args:
        settings: ``retain.content``, ``tool_filter``, ``compact_tool_calls`` and ``extras``.
    """

    def __init__(self, settings: Retain) -> None:
        self._content: Mapping[str, tuple[str, ...]] = settings.content
        if settings.extras:
            self._content = {
                role: tuple(dict.fromkeys([*settings.content.get(role, ()), *kinds]))
                for role, kinds in _EVERYTHING.items()
            }
        self._filter = settings.tool_filter
        self._compact = settings.compact_tool_calls

    def of(self, entry: Entry) -> tuple[Said, ...]:
        """The kept parts of an entry, in order; none for what is nobody's words."""
        if entry.synthetic or entry.compaction or entry.role in ("host", "system"):
            return ()
        return tuple(self._kept(entry))

    def _kept(self, entry: Entry) -> Iterator[Said]:
        kinds = self._content.get(entry.role, ())
        for part in entry.parts:
            match part:
                case Text() if "text" in kinds:
                    text = part.text if "thinking" in kinds else _THOUGHT.sub("", part.text)
                    if text.strip():
                        yield Said("text", text.strip())
                case Thinking() if "thinking" in kinds and part.text.strip():
                    yield Said("thinking", part.text.strip())
                case ToolCall() if "toolCall" in kinds and self._wanted("toolCall", part.name):
                    yield self._call(part)
                case ToolResult() if self._wanted("toolResult", part.name):
                    yield from self._result(part)
                case _:
                    continue

    def _call(self, call: ToolCall) -> Said:
        if not self._compact:
            return Said("toolCall", name=call.name, arguments=call.arguments)
        values = (call.arguments.get(name) for name in _TELLING)
        told = next((v for v in values if isinstance(v, str) and v.strip()), "")
        return Said("toolCall", " ".join(told.split())[:COMMAND_CHARS], name=call.name)

    def _result(self, result: ToolResult) -> Iterator[Said]:
        kinds = self._content.get("toolResult", ())
        text = result.text.strip()
        if "content" in kinds or (result.is_error and "error" in kinds):
            kept = text
        elif "summary" in kinds:
            kept = text if len(text) <= SUMMARY_CHARS else f"{text[:SUMMARY_CHARS]} […]"
        else:
            return
        if kept:
            yield Said("toolResult", kept, name=result.name, is_error=result.is_error)

    def _wanted(self, kind: str, tool: str) -> bool:
        """Own tools never: what was recalled would be stored again (br/BR-06)."""
        name = tool.lower()
        if name.startswith(OWN_PREFIX):
            return False
        rule = self._filter.get(kind, {})
        if include := rule.get("include"):
            return tool in include
        excluded = rule.get("exclude")
        if excluded is None:
            return kind != "toolResult" or name not in LOOKING
        return tool not in excluded
