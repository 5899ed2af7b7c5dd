"""Where it is told what happens to memories."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

logger = logging.getLogger("hindsight_core.memorize")
Listener = Callable[[str, Mapping[str, object]], None]


class EventSink:
    """Passes events on; a listener that fails costs nothing that is stored already.

    Args:
        listener: Is told name and fields, as the activity log has them (am/A-LOG).
    """

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def listen(self, listener: Listener) -> None:
        """From now on tell this one."""
        self._listener = listener

    def __call__(self, name: str, fields: Mapping[str, object]) -> None:
        """Tell it; never raises."""
        try:
            self._listener(name, fields)
        except Exception:
            logger.exception("capture.feedback_failed: %s was not told", name)
