"""Wraps a hook, which cannot be done here."""

from __future__ import annotations

from collections.abc import Generator

from hindsight_core import hookimpl


@hookimpl(wrapper=True)
def hindsight_plan_recall(turn: object) -> Generator[None, object, object]:
    """Would see awaitables instead of plans."""
    return (yield)
