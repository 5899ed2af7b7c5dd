"""Tools that plugins registered (``hindsight_register_tools``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.foreign import ForeignFailure, called, made
from hindsight_core.engine.tools.base import ToolResult

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession


class ForeignTool:
    """One tool of a plugin: its object has ``description``, ``parameters`` and ``call``."""

    def __init__(self, name: str, label: str, tool: Any) -> None:  # noqa: ANN401
        self.name = name
        self.description = str(getattr(tool, "description", "") or name)
        parameters = getattr(tool, "parameters", None)
        self.parameters: Mapping[str, Any] = (
            parameters if isinstance(parameters, Mapping) else {"type": "object", "properties": {}}
        )
        self._label = label
        self._call = tool.call

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Text, a mapping in protocol.md's form, or a `ToolResult`; raises `ForeignFailure`."""
        answer = await called(self._label, self._call, {"arguments": dict(arguments)})
        if isinstance(answer, ToolResult):
            return answer
        if isinstance(answer, str):
            return ToolResult(answer, details={"outcome": "ok"})
        if isinstance(answer, Mapping) and isinstance(answer.get("content"), str):
            details = answer.get("details")
            return ToolResult(
                answer["content"],
                is_error=answer.get("isError") is True,
                details=details if isinstance(details, Mapping) else {},
            )
        raise ForeignFailure(
            f"{self._label} answered with {type(answer).__name__}; it must be text or an object "
            "with `content`"
        )


def foreign_tools(live: LiveSession, *, taken: frozenset[str]) -> dict[str, ForeignTool]:
    """The usable ones by name; what is wrong with another is told once."""
    tools = {}

    def told(text: str) -> None:
        live.notices.trouble(text, text)

    for name, label, tool in made(live.runtime, "tools", taken=taken, told=told):
        if callable(getattr(tool, "call", None)):
            tools[name] = ForeignTool(name, label, tool)
        else:
            told(f"{label} is not offered: its object has no `call(arguments)`.")
    return tools
