"""How long a server asks to be left alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.services import Clock


def retry_after(headers: Mapping[str, str], clock: Clock) -> float | None:
    """Seconds in ``Retry-After``, from seconds or a date; None when it asks for nothing."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - clock()).total_seconds()
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
