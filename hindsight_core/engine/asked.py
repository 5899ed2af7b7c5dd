"""What a session may be asked for; imported late, because a spawned hook asks for none of it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from hindsight_core.engine.commands.book import Commands
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.engine.tools.box import Tools


class Asked:
    """The part of a `LiveSession` that the agent and the person call."""

    @cached_property
    def tools(self) -> Tools:
        """What the agent may call."""
        from hindsight_core.engine.tools.box import Tools

        return Tools(cast("LiveSession", self))

    @cached_property
    def commands(self) -> Commands:
        """What the person may call."""
        from hindsight_core.engine.commands.book import Commands

        return Commands(cast("LiveSession", self))
