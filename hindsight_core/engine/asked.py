"""What a session may be asked for; imported late, because a spawned hook asks for none of it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from hindsight_core.engine.commands.book import Commands
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.engine.panel_place import PanelPlace
    from hindsight_core.engine.tools.box import Tools


class Asked:
    """The part of a `LiveSession` that the agent and the person call.

    Attributes:
        panel_place: Where the panel opens next, when a command asked for it.
    """

    panel_place: PanelPlace | None = None

    def take_panel_place(self) -> PanelPlace | None:
        """Where the panel that opens now was asked for; told once."""
        place, self.panel_place = self.panel_place, None
        return place

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
