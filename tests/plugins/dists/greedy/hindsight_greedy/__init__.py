"""Asks for an argument that its hook does not have."""

from __future__ import annotations

from hindsight_core import hookimpl


@hookimpl
def hindsight_remind(turn: object, mood: object) -> None:
    """There is no mood."""
