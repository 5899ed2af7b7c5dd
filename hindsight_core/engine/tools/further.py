"""The tools that ``tools.further`` and ``tools.parameters`` offer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from hindsight_core.engine.tools.bank import BankTool
from hindsight_core.engine.tools.config import ConfigTool
from hindsight_core.engine.tools.mental_model import MentalModelTool
from hindsight_core.engine.tools.recall import RecallTool
from hindsight_core.engine.tools.recall_full import FullRecallTool
from hindsight_core.engine.tools.reflect import ReflectTool
from hindsight_core.engine.tools.reflect_full import FullReflectTool
from hindsight_core.engine.tools.retain import RetainTool
from hindsight_core.engine.tools.retain_full import FullRetainTool
from hindsight_core.engine.tools.scope import ScopeTool
from hindsight_core.engine.tools.status import StatusTool

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.engine.tools.base import SessionTool

FURTHER: Mapping[str, Callable[[LiveSession], SessionTool]] = {
    "status": StatusTool,
    "scope": ScopeTool,
    "config": ConfigTool,
    "bank": BankTool,
    "mental_model": MentalModelTool,
}


def main_tools(live: LiveSession) -> tuple[RecallTool, RetainTool, ReflectTool]:
    """Recall, retain and reflect, as detailed as the settings want them."""
    if live.runtime.settings.tools.parameters == "full":
        return FullRecallTool(live), FullRetainTool(live), FullReflectTool(live)
    return RecallTool(live), RetainTool(live), ReflectTool(live)


def further_tools(live: LiveSession) -> Iterable[SessionTool]:
    """Those named in ``tools.further``."""
    return [FURTHER[name](live) for name in live.runtime.settings.tools.further]
