"""Tools and slash commands of plugins: made, checked and called with a deadline."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import HindsightError
from hindsight_core.isolation import Overdue, call_async

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime

# An agent or a person waits for it, and it may have to ask the outside.
DEADLINE_S = 60.0
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
logger = logging.getLogger("hindsight_core.engine")


class ForeignFailure(HindsightError):
    """A tool or command of a plugin did not do what it is for."""


def made(
    runtime: Runtime, kind: str, *, taken: frozenset[str], told: Callable[[str], None]
) -> Iterator[tuple[str, str, Any]]:
    """Name, owner and object of each tool or command that plugins registered.

    Args:
        runtime: Knows the plugins and what they may use.
        kind: ``tools`` or ``commands``.
        taken: Names that are ours.
        told: Gets one text for each that cannot be used.
    """
    registry = getattr(runtime.hooks, kind)
    for name, item in registry.items():
        label = f"{item.distribution or 'a plugin'}: {kind[:-1]} {name!r}"
        if name in taken or not _NAME.fullmatch(name):
            why = "the name is taken" if name in taken else "a name has letters, digits, _ and -"
            told(f"{label} is not offered: {why}. Its author must rename it.")
            continue
        try:
            yield name, label, runtime.hooks.create(kind, name, runtime.settings, runtime.services)
        except HindsightError as error:
            told(f"{label} is not offered: {error}")


async def called(label: str, function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """What a plugin's function gives; raises `ForeignFailure` when it fails or is slow."""
    try:
        return await call_async(function, arguments, seconds=DEADLINE_S, stuck=lambda count: None)
    except Overdue:
        raise ForeignFailure(f"{label} gave no answer within {DEADLINE_S:g} s") from None
    except Exception as error:
        logger.exception("%s failed", label)
        raise ForeignFailure(f"{label} failed: {type(error).__name__}: {error}") from error
