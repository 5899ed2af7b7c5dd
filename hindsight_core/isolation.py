"""Calls code of third parties with a deadline that holds even when the code does not yield."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

_abandoned: set[asyncio.Task[Any]] = set()


class Overdue(Exception):
    """The call did not end before its deadline."""


class _Call:
    """One call in a thread of its own.

    The thread is a daemon: an executor's threads are joined when the interpreter ends, and a
    plugin that hangs would keep the process alive.
    """

    def __init__(self, function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
        self.done = threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None
        self._function, self._arguments = function, arguments
        self._on_done: Callable[[], None] | None = None
        self._lock = threading.Lock()
        context = contextvars.copy_context()
        threading.Thread(
            target=context.run, args=(self._run,), daemon=True, name="hindsight-plugin"
        ).start()

    def _run(self) -> None:
        try:
            self.result = self._function(**self._arguments)
        except BaseException as error:
            self.error = error
        with self._lock:
            self.done.set()
            tell = self._on_done
        if tell is not None:
            tell()

    def when_done(self, tell: Callable[[], None]) -> None:
        """Call ``tell`` from whichever thread, once the call has ended."""
        with self._lock:
            if not self.done.is_set():
                self._on_done = tell
                return
        tell()

    def value(self) -> Any:  # noqa: ANN401
        """The result; raises what the function raised, never something that ends the process."""
        if self.error is None:
            return self.result
        if isinstance(self.error, Exception):
            raise self.error
        raise RuntimeError(f"it raised {type(self.error).__name__}") from self.error


def call_blocking(
    function: Callable[..., Any], arguments: Mapping[str, Any], *, seconds: float
) -> Any:  # noqa: ANN401
    """Call a plain function and wait at most ``seconds`` for it; raises `Overdue`."""
    call = _Call(function, arguments)
    if not call.done.wait(seconds):
        raise Overdue
    return call.value()


async def call_async(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    seconds: float,
    stuck: Callable[[int], None],
) -> Any:  # noqa: ANN401
    """Call a plain or asynchronous function within ``seconds`` altogether; raises `Overdue`.

    A plain function runs in a thread; an awaitable that it returns is awaited here. ``stuck`` is
    told 1 when a call is left running behind its deadline, and -1 when it has ended after all.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    if inspect.iscoroutinefunction(function):
        return await _within(function(**arguments), seconds=seconds, stuck=stuck)
    value = await _in_thread(function, arguments, seconds=seconds, stuck=stuck)
    if inspect.isawaitable(value):
        left = max(end - loop.time(), 0.0)
        value = await _within(value, seconds=left, stuck=stuck)
    return value


async def _in_thread(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    seconds: float,
    stuck: Callable[[int], None],
) -> Any:  # noqa: ANN401
    loop = asyncio.get_running_loop()
    finished = asyncio.Event()
    call = _Call(function, arguments)

    def tell() -> None:
        with suppress(RuntimeError):  # the loop may be closed by then
            loop.call_soon_threadsafe(finished.set)

    call.when_done(tell)
    try:
        async with asyncio.timeout(seconds):
            await finished.wait()
    except TimeoutError:
        stuck(1)
        call.when_done(lambda: stuck(-1))
        raise Overdue from None
    return call.value()


async def _within(
    awaitable: Awaitable[Any], *, seconds: float, stuck: Callable[[int], None]
) -> Any:  # noqa: ANN401
    """Await with a deadline, without waiting for the end of code that ignores its cancellation."""
    task = asyncio.create_task(_contained(awaitable))
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        _abandon(task, stuck)
        raise
    if not done:
        _abandon(task, stuck)
        raise Overdue
    if task.cancelled():
        raise RuntimeError("it cancelled itself")
    return task.result()


async def _contained(awaitable: Awaitable[Any]) -> Any:  # noqa: ANN401
    """Await what must not end the process: asyncio lets SystemExit out of the loop."""
    try:
        return await awaitable
    except SystemExit as error:
        raise RuntimeError("it called sys.exit()") from error


def _abandon(task: asyncio.Task[Any], stuck: Callable[[int], None]) -> None:
    def forget(ended: asyncio.Task[Any]) -> None:
        _abandoned.discard(ended)
        stuck(-1)
        if not ended.cancelled():
            ended.exception()

    stuck(1)
    _abandoned.add(task)
    task.cancel()
    task.add_done_callback(forget)
