"""Written for a newer core, and at work on this one."""

from __future__ import annotations

from hindsight_core import hookimpl


@hookimpl(optionalhook=True)
def hindsight_dream(night: object) -> None:
    """A hook that this core does not have yet."""


@hookimpl
def hindsight_remind(turn: object) -> str:
    """A hook that it has."""
    return "remember the newer core"
