"""What a check of ``doctor`` finds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime

Level = Literal["ok", "warning", "failed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        name: What was checked.
        level: ``failed`` makes the command exit with 1.
        text: What was found.
        advice: What to do, when it is not ``ok``.
    """

    name: str
    level: Level
    text: str
    advice: str | None = None


_CHECK_S = 60.0


Check = Callable[["Runtime"], Awaitable[list[Finding]]]
