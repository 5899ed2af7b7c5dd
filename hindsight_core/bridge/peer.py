"""One end of a JSON-RPC connection: answers side by side, asks, cancels both ways."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol

from hindsight_core.bridge.records import (
    CANCELLED,
    INVALID_PARAMS,
    NO_METHOD,
    UNAVAILABLE,
    Call,
    Reply,
    RequestId,
    RpcError,
    dump,
    error_record,
    parse,
)
from hindsight_core.engine.params import complaint

Handler = Callable[[dict[str, Any]], Awaitable[object]]
logger = logging.getLogger("hindsight_core.bridge")


class Reader(Protocol):
    """Source of lines."""

    async def readline(self) -> bytes:
        """One line with its LF; empty at the end."""
        ...


class Peer:
    """A connection.

    Args:
        read: Where lines come from.
        write: Writes the bytes of one record; called from the event loop only.
        methods: Handlers by method name. A handler's result is the reply.
    """

    def __init__(
        self, *, read: Reader, write: Callable[[bytes], None], methods: dict[str, Handler]
    ) -> None:
        self._read = read
        self._write = write
        self._methods = methods
        self._ids = itertools.count(1)
        self._running: dict[RequestId, asyncio.Task[None]] = {}
        self._waiting: dict[RequestId, asyncio.Future[Any]] = {}
        self._ordered: asyncio.Task[None] | None = None
        self._reading: asyncio.Future[bytes] | None = None
        self.closed = False

    async def serve(self) -> None:
        """Read until the end of the stream; requests run side by side."""
        while line := await self._next_line():
            if not line.strip():
                continue
            try:
                record = parse(line)
            except RpcError as error:
                request_id = error.data.pop("id", None) if error.data else None
                error.data = error.data or None
                self.send(error_record(error, request_id))
                continue
            self._receive(record)
            if self.closed:
                break
        self.closed = True
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(RpcError(UNAVAILABLE, "the other side is gone"))

    async def request(
        self, method: str, params: dict[str, Any], *, timeout_s: float | None = None
    ) -> object:
        """Ask the other side; it is told when we give up.

        Raises:
            RpcError: It answered with an error, or is gone.
            TimeoutError: No answer in time.
        """
        if self.closed:
            raise RpcError(UNAVAILABLE, "the other side is gone")
        request_id = f"c{next(self._ids)}"
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = future
        self.send({"id": request_id, "method": method, "params": params})
        try:
            async with asyncio.timeout(timeout_s):
                return await future
        except (asyncio.CancelledError, TimeoutError):
            self.notify("$/cancel", {"id": request_id})
            raise
        finally:
            self._waiting.pop(request_id, None)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification, in order."""
        self.send({"method": method, "params": params})

    def send(self, record: dict[str, Any]) -> None:
        """Write one record; a closed pipe ends the connection silently."""
        if self.closed and "method" in record:
            return
        try:
            self._write(dump(record))
        except (BrokenPipeError, ConnectionError, ValueError):
            self.closed = True

    def stop(self) -> None:
        """End `serve` after what was read so far."""
        self.closed = True
        if self._reading is not None:
            self._reading.cancel()

    async def settle(self, *, timeout_s: float) -> None:
        """Let running requests finish, then cancel what is left."""
        running = list(self._running.values())
        if not running:
            return
        _, late = await asyncio.wait(running, timeout=timeout_s)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=1)

    async def _next_line(self) -> bytes:
        if self.closed:
            return b""
        self._reading = asyncio.ensure_future(self._read.readline())
        try:
            return await self._reading
        except asyncio.CancelledError:
            if self.closed:
                return b""
            raise

    def _receive(self, record: Call | Reply) -> None:
        if isinstance(record, Reply):
            self._resolve(record)
        elif record.method == "$/cancel":
            self._cancel(record.params.get("id"))
        elif record.id is None:
            self._in_order(record)
        else:
            task = asyncio.create_task(self._answer(record, record.id))
            self._running[record.id] = task

    def _resolve(self, reply: Reply) -> None:
        future = self._waiting.get(reply.id)
        if future is None or future.done():
            return
        if reply.error is not None:
            future.set_exception(reply.error)
        else:
            future.set_result(reply.result)

    def _cancel(self, request_id: object) -> None:
        task = self._running.get(request_id) if isinstance(request_id, str | int) else None
        if task is not None:
            task.cancel()

    def _in_order(self, call: Call) -> None:
        before = self._ordered

        async def follow() -> None:
            if before is not None:
                with suppress(Exception):
                    await before
            with suppress(RpcError):
                await self._call(call)

        self._ordered = asyncio.create_task(follow())

    async def _answer(self, call: Call, request_id: RequestId) -> None:
        try:
            result = await self._call(call)
            self.send({"id": request_id, "result": result})
        except asyncio.CancelledError:
            self.send(error_record(RpcError(CANCELLED, "cancelled"), request_id))
        except RpcError as error:
            self.send(error_record(error, request_id))
        except Exception as error:
            # A bug of ours must reach neither the host as a veto nor vanish.
            logger.exception("%s failed", call.method)
            failure = RpcError(
                UNAVAILABLE,
                f"{call.method} failed: {error}",
                data={"reason": str(error), "retryable": False},
            )
            self.send(error_record(failure, request_id))
        finally:
            self._running.pop(request_id, None)

    async def _call(self, call: Call) -> object:
        handler = self._methods.get(call.method)
        if handler is None:
            raise RpcError(NO_METHOD, f"no method {call.method!r}")
        if (why := complaint(call.method, call.params)) is not None:
            raise RpcError(INVALID_PARAMS, why)
        return await handler(call.params)
