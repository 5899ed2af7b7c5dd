"""Implements a hook whose name does not exist."""

from __future__ import annotations

from hindsight_core import hookimpl


@hookimpl
def hindsight_plan_recal(turn: object) -> None:
    """Meant to be hindsight_plan_recall."""
