"""What the tabs of a panel may look at and change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.config.layers import Loaded
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.engine.panel_place import PanelPlace
    from hindsight_core.runtime import Runtime


@dataclass
class PanelView:
    """One session, or one project on the command line.

    Attributes:
        loaded: The effective configuration; read again after a change.
        state: As `initialize` answers.
        reason: Why memory is in that state.
        runtime: The opened configuration; None where memory is not active.
        live: The session; None on the command line.
        reload: Reads the configuration again.
        hub: The hub was asked for: it is shown, and shown first.
        place: Where a command wants the panel to open.
        changed: Keys that were set here and count from the next session on.
    """

    loaded: Loaded
    state: str
    reason: str | None
    runtime: Runtime | None
    reload: Callable[[], Loaded]
    live: LiveSession | None = None
    hub: bool = False
    place: PanelPlace | None = None
    changed: list[str] = field(default_factory=list)

    @property
    def first(self) -> str:
        """Title of the tab that was asked for; empty for none."""
        if self.place is not None:
            return self.place.tab
        return "Hub" if self.hub else ""
