"""Which tabs a panel has, in their order."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.panel.tab import Tab
    from hindsight_core.panel.view import PanelView

TABS = ("status", "settings", "review", "log", "facts", "memories", "combine", "hub")
"""Modules of `hindsight_core.panel.tabs`: each has a class ``TAB``, and may have
``offered(view) -> bool`` for one that is not always there."""


def make_tabs(view: PanelView, redraw: Callable[[], None]) -> list[Tab]:
    """The tabs that there are for a view."""
    modules = [import_module(f"hindsight_core.panel.tabs.{name}") for name in TABS]
    offered = [m for m in modules if getattr(m, "offered", lambda view: True)(view)]
    return [module.TAB(view, redraw) for module in offered]
