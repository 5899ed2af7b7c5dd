"""What runs by itself in a session, as the user may switch it; nothing of it is kept (pi/U-03)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings


@dataclass(slots=True)
class Auto:
    """The two contours of a session.

    Attributes:
        recall: Turns recall by themselves.
        memorize: Anything is written by itself.
    """

    recall: bool
    memorize: bool

    @classmethod
    def of(cls, settings: Settings) -> Auto:
        """As the configuration has it."""
        return cls(recall=settings.recall.enabled, memorize=settings.memorize.enabled)
