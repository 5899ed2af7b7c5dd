"""Where the panel opens next time, when a command asked for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PanelPlace:
    """One tab of the panel.

    Attributes:
        tab: Its title.
        mode: What is done with what is chosen there; empty asks.
        query: What is searched for at the start.
    """

    tab: str
    mode: str = ""
    query: str = ""
