"""One call of one model: a deadline, a thread for plain functions, a checked answer."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from hindsight_core.errors import HindsightError, ProviderError
from hindsight_core.isolation import Overdue, call_async
from hindsight_core.providers.base import Completion, CompletionRequest, Model
from hindsight_core.providers.json_text import clean

MAX_MESSAGE = 300


async def attempt(
    model: Model, request: CompletionRequest, *, label: str, timeout_s: float
) -> Completion:
    """Ask once.

    Raises:
        ProviderError: It failed in any way: an exception, no answer in time, an empty text
            (pi/D-01: an empty text is a failure). A cancel is passed on as it is.
    """
    try:
        answer = await call_async(
            partial(model.complete, request), {}, seconds=timeout_s, stuck=lambda change: None
        )
    except Overdue as error:
        raise ProviderError(
            f"{label} did not answer {request.stage} within {timeout_s:g} s. Raise "
            "models.timeout_ms or choose a faster model."
        ) from error
    except ProviderError:
        raise
    except HindsightError as error:
        raise ProviderError(f"{label}: {error}", retryable=False) from error
    except Exception as error:
        detail = str(error)[:MAX_MESSAGE] or "no message"
        raise ProviderError(f"{label} failed: {type(error).__name__}: {detail}") from error
    return _checked(answer, request, label)


def _checked(answer: object, request: CompletionRequest, label: str) -> Completion:
    if not isinstance(answer, Completion) or not isinstance(answer.text, str):
        raise ProviderError(
            f"{label} answered {request.stage} with {type(answer).__name__}, not a Completion. "
            "Update the plugin that provides it.",
            retryable=False,
        )
    text = clean(answer.text)
    if not text.strip():
        raise ProviderError(f"{label} answered {request.stage} with an empty text")
    return answer if text == answer.text else replace(answer, text=text)
