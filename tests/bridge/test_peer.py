"""One connection in memory: concurrency, cancelling both ways, ends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from hindsight_core.bridge.peer import Peer
from hindsight_core.bridge.records import RpcError


class Line:
    """Both pipes of a peer."""

    def __init__(self, **methods: Any) -> None:
        self.lines: asyncio.Queue[bytes] = asyncio.Queue()
        self.written: list[dict[str, Any]] = []
        self.news = asyncio.Event()
        self.peer = Peer(read=self, write=self._write, methods=methods)

    async def readline(self) -> bytes:
        return await self.lines.get()

    def give(self, **record: object) -> None:
        self.lines.put_nowait(json.dumps({"jsonrpc": "2.0", **record}).encode() + b"\n")

    def end(self) -> None:
        self.lines.put_nowait(b"")

    async def until(self, count: int) -> list[dict[str, Any]]:
        async with asyncio.timeout(5):
            while len(self.written) < count:
                self.news.clear()
                await self.news.wait()
        return self.written

    def _write(self, data: bytes) -> None:
        assert data.endswith(b"\n")
        assert data.count(b"\n") == 1
        self.written.append(json.loads(data))
        self.news.set()


async def echo(params: dict[str, Any]) -> object:
    return params


async def test_a_slow_request_holds_no_other_up() -> None:
    go_on = asyncio.Event()

    async def slow(params: dict[str, Any]) -> object:
        await go_on.wait()
        return "slow"

    line = Line(slow=slow, echo=echo)
    serving = asyncio.create_task(line.peer.serve())
    line.give(id=1, method="slow")
    line.give(id="two", method="echo", params={"a": 1})
    first = list(await line.until(1))
    go_on.set()
    await line.until(2)
    line.end()
    await serving

    assert [record["id"] for record in first] == ["two"]
    assert line.written[1]["result"] == "slow"


async def test_notifications_keep_their_order() -> None:
    seen: list[int] = []

    async def note(params: dict[str, Any]) -> object:
        await asyncio.sleep(0.01 if params["n"] == 0 else 0)
        seen.append(params["n"])
        return None

    line = Line(note=note, echo=echo)
    serving = asyncio.create_task(line.peer.serve())
    for number in range(5):
        line.give(method="note", params={"n": number})
    line.end()
    await serving
    async with asyncio.timeout(5):
        while len(seen) < 5:
            await asyncio.sleep(0.01)

    assert seen == [0, 1, 2, 3, 4]
    assert line.written == []


async def test_what_we_give_up_is_cancelled_over_there() -> None:
    line = Line()
    serving = asyncio.create_task(line.peer.serve())

    with pytest.raises(TimeoutError):
        await line.peer.request("host/complete", {}, timeout_s=0.02)

    asked, cancelled = line.written
    assert cancelled["method"] == "$/cancel"
    assert cancelled["params"] == {"id": asked["id"]}
    line.give(id=asked["id"], result={"late": True})
    line.end()
    await serving


async def test_the_other_sides_errors_and_end_are_errors() -> None:
    line = Line()
    serving = asyncio.create_task(line.peer.serve())
    first = asyncio.create_task(line.peer.request("host/models", {}))
    await line.until(1)
    line.give(id=line.written[0]["id"], error={"code": -32000, "message": "no model"})
    with pytest.raises(RpcError, match="no model"):
        await first
    second = asyncio.create_task(line.peer.request("host/models", {}))
    await line.until(2)
    line.end()
    await serving

    with pytest.raises(RpcError, match="gone"):
        await second
    with pytest.raises(RpcError, match="gone"):
        await line.peer.request("host/models", {})


async def test_a_bug_in_a_handler_is_an_error_answer() -> None:
    async def broken(params: dict[str, Any]) -> object:
        raise ZeroDivisionError("x")

    line = Line(broken=broken, echo=echo)
    serving = asyncio.create_task(line.peer.serve())
    line.give(id=1, method="broken")
    line.give(id=2, method="echo")
    await line.until(2)
    line.end()
    await serving

    by_id = {record["id"]: record for record in line.written}
    assert by_id[1]["error"]["code"] == -32000
    assert by_id[2]["result"] == {}
