"""The tools of active memory, where ``tools.memory`` offers them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hindsight_core.engine.tools.memory_correct import MemoryCorrectTool
from hindsight_core.engine.tools.memory_feedback import MemoryFeedbackTool
from hindsight_core.engine.tools.memory_search import MemorySearchTool
from hindsight_core.engine.tools.memory_store import MemoryStoreTool

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.engine.tools.base import SessionTool


def active_tools(live: LiveSession) -> Iterable[SessionTool]:
    """Those of the plugin, under the names that its users know."""
    if not live.runtime.settings.tools.memory:
        return ()
    tools = (MemorySearchTool, MemoryStoreTool, MemoryCorrectTool, MemoryFeedbackTool)
    return [tool(live) for tool in tools]
