"""One call of one model: a deadline, a thread for plain functions, a checked answer."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import replace
from typing import TypeVar

from hindsight_core.errors import HindsightError, ProviderError
from hindsight_core.providers.base import Completion, CompletionRequest, Model
from hindsight_core.providers.json_text import clean

T = TypeVar("T")

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
        async with asyncio.timeout(timeout_s):
            answer = await _call(model, request)
    except TimeoutError as error:
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


async def _call(model: Model, request: CompletionRequest) -> object:
    if inspect.iscoroutinefunction(model.complete):
        return await model.complete(request)
    answer = await in_thread(lambda: model.complete(request))
    return await answer if inspect.isawaitable(answer) else answer


async def in_thread(work: Callable[[], T]) -> T:
    """Run a plain function in a thread that cannot keep the process alive when it hangs."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = copy_context()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: T | None = None
        failure: BaseException | None = None
        try:
            result = context.run(work)
        except Exception as error:
            failure = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, name="hindsight-model", daemon=True).start()
    return await future
