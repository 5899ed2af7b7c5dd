"""All tools of one session: the built-in ones and those of plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.tools.active import active_tools
from hindsight_core.engine.tools.base import BadArgument, SessionTool, ToolResult, failed
from hindsight_core.engine.tools.foreign import ForeignTool, foreign_tools
from hindsight_core.engine.tools.forget import ForgetTool
from hindsight_core.engine.tools.further import further_tools, main_tools
from hindsight_core.engine.tools.retain_user import person_tools
from hindsight_core.errors import HindsightError
from hindsight_core.prompt_contexts import STAGES, MainTool, Tool

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession

Factory = Callable[["LiveSession"], Iterable[SessionTool]]


def _basic(live: LiveSession) -> Iterable[SessionTool]:
    return *main_tools(live), ForgetTool(live)


FACTORIES: tuple[Factory, ...] = (_basic, person_tools, further_tools, active_tools)
"""Each gives the tools that the settings of a session offer, in the order of the list."""


class Tools:
    """The tools of one session.

    Args:
        live: The session.
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    @cached_property
    def _tools(self) -> Mapping[str, SessionTool | ForeignTool]:
        own = {tool.name: tool for factory in FACTORIES for tool in factory(self._live)}
        return {**foreign_tools(self._live, taken=frozenset(own)), **own}

    def describe(self) -> list[dict[str, Any]]:
        """Name, description and JSON schema of each tool, the built-in ones first."""
        tools = sorted(self._tools.values(), key=lambda tool: isinstance(tool, ForeignTool))
        return [
            {
                "name": tool.name,
                "description": self._description(tool),
                "parameters": dict(tool.parameters),
                **self._guidance(tool),
            }
            for tool in tools
        ]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Run one tool; every failure is a result that says so, never an exception."""
        tool = self._tools.get(name)
        if tool is None:
            return failed(f"There is no tool {name!r}. Tools: {', '.join(self._tools)}.")
        try:
            return await tool.call(arguments)
        except BadArgument as error:
            return failed(str(error))
        except HindsightError as error:
            return failed(f"Memory failed: {error}")

    def _description(self, tool: SessionTool | ForeignTool) -> str:
        if isinstance(tool, ForeignTool):
            return tool.description
        return self._render(f"tools/{tool.name}")

    def _guidance(self, tool: SessionTool | ForeignTool) -> dict[str, Any]:
        """What a host may write into its system prompt: a line about the tool, and rules."""
        found: dict[str, Any] = {}
        if f"tools/{tool.name}.snippet" in STAGES:
            found["snippet"] = self._render(f"tools/{tool.name}.snippet")
            rules = self._render(f"tools/{tool.name}.guidelines").splitlines()
            found["guidelines"] = [rule.strip() for rule in rules if rule.strip()]
        return found

    def _render(self, stage: str) -> str:
        runtime = self._live.runtime
        bank = "" if self._live.opening.capabilities.agents else runtime.bank_id
        language = runtime.settings.memorize.language
        variables: Tool | MainTool = Tool(bank=bank, language=language)
        if STAGES.get(stage) is MainTool:
            full = runtime.settings.tools.parameters == "full"
            variables = MainTool(bank=bank, language=language, full=full)
        return runtime.prompts.render(stage, variables).text.strip()
