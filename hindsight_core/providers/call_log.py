"""One line a model call in the debug log (pi/O-02)."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from hindsight_core.telemetry import keeps_text

if TYPE_CHECKING:
    from hindsight_core.providers.base import Completion, CompletionRequest

MOST = 20_000


def log_call(
    logger: logging.Logger, request: CompletionRequest, completion: Completion, *, text: bool
) -> None:
    """Log what was asked and answered, at level debug only.

    Args:
        logger: Where to.
        request: As it was sent; its texts have crossed the sanitising boundary.
        completion: The answer.
        text: With the whole prompt and answer (``log.include_text``), else their lengths.
    """
    if not logger.isEnabledFor(logging.DEBUG):
        return
    asked = "\n\n".join([request.system or "", *(m.content for m in request.messages)])
    sizes = f"asked={len(asked)} answered={len(completion.text)} characters"
    said = ""
    if keeps_text(text):
        from hindsight_core.redact import redacted

        # Before it is quoted: inside of quotation marks a shape may not be known again.
        both = [redacted(asked[:MOST]), redacted(completion.text[:MOST])]
        said = " " + json.dumps(both, ensure_ascii=False)
    logger.debug("model.call stage=%s model=%s %s%s", request.stage, completion.model, sizes, said)
