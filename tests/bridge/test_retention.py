"""A session's transcript on its way to a server, over real bridges that are killed anywhere."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.testing.retain_server import RetainServer

pytestmark = pytest.mark.usefixtures("loopback")
PROFILE = {"MEM_PROFILE": "s1enhanced", "MEM_BANK__BACKEND": "hindsight"}
GATE = """
import os, pathlib, signal, sys
once = pathlib.Path(sys.argv[1])
if "question 3" in sys.stdin.read() and not once.exists():
    once.touch()
    os.kill(os.getppid(), signal.SIGKILL)
"""


@pytest.fixture
def server(loopback: None) -> Iterator[RetainServer]:
    made = RetainServer()
    yield made
    made.stop()


class Talk:
    """A session of questions and answers, a minute each."""

    def __init__(self) -> None:
        self.path: list[dict[str, Any]] = []

    def ask(self, number: int, *, parent: str | None = None) -> list[dict[str, Any]]:
        """One turn; the path with it."""
        for at, (role, word) in enumerate((("user", "question"), ("assistant", "answer"))):
            self.path.append(
                {
                    "id": f"{word[0]}{number}",
                    "role": role,
                    "timestamp": f"2026-03-01T10:{number:02}:{at:02}+00:00",
                    "parts": [{"type": "text", "text": f"{word} {number}"}],
                }
            )
        return self.path


def opened(host: Any, server: RetainServer, **more: Any) -> Any:
    """A bridge under the profile over the server; its session is opened."""
    env = {"MEM_HINDSIGHT__BASE_URL": server.url, **PROFILE, **more.pop("env", {})}
    bridge = host.start(**env)
    host.open(bridge, **more)
    return bridge


def turn(host: Any, bridge: Any, talk: Talk, number: int) -> dict[str, Any]:
    """A whole turn; the answer of its start."""
    before = list(talk.path)
    started: dict[str, Any] = host.turn(bridge, f"question {number}", entries=before)
    bridge.call("turn/end", {"turnId": f"t{number}", "entries": talk.ask(number)}, timeout_s=10)
    return started


def settled(bridge: Any) -> None:
    """Nothing of the session waits."""
    for _ in range(1200):
        if bridge.call("status/get")["pending"] == 0:
            return
        threading.Event().wait(0.05)
    raise AssertionError("something still waits")


def after_pause(host: Any) -> None:
    """The queue leaves a bank alone for up to a second after a failure; then it may be asked."""
    with closing(sqlite3.connect(host.memory / "queue.db")) as queue:
        (until,) = queue.execute("SELECT max(until) FROM pauses").fetchone()
    threading.Event().wait(max(0.0, (until or 0.0) - time.time()))


def resumed(host: Any, server: RetainServer, talk: Talk, **more: Any) -> Any:
    return opened(host, server, reason="resume", entries=list(talk.path), **more)


@pytest.mark.timeout(180)
@pytest.mark.spec("s1/S-RET-1", "s1/S-Q-4", "s1/S-REC-9")
async def test_a_server_away_for_twenty_turns_gets_each_once_in_order_dated_right(
    host: Any, server: RetainServer
) -> None:
    talk = Talk()
    bridge = opened(host, server)
    for number in range(1, 21):
        started = turn(host, bridge, talk, number)
        # The turn goes on without memory, and says so.
        assert started["outcome"] in ("failed", "skipped") and started["blocks"] == []
    away = bridge.call("status/get")
    ended = bridge.call("session/end", {"reason": "quit"})
    bridge.call("shutdown")
    assert bridge.gone() == 0
    assert away["pending"] > 0 and ended["flushed"] is False
    assert len(bridge.notices("warning", "error")) <= 3

    server.start()
    after_pause(host)
    back = opened(host, server, session="s2")
    settled(back)
    back.call("session/end", {"reason": "quit"})
    back.call("shutdown")

    assert server.questions == list(range(1, 21))
    times = {text: at for text, at in server.said}
    assert times["question 7"] is not None and "10:07:00" in times["question 7"]
    last = [item["timestamp"] for item in server.items]
    assert last == sorted(last) and last[-1].startswith("2026-03-01T10:20")


@pytest.mark.timeout(120)
@pytest.mark.spec("s1/S-RET-4", "s1/S-RET-9", "s1/S-CUR-1")
@pytest.mark.parametrize("moment", ["before it is queued", "on its way", "its answer lost"])
async def test_a_bridge_that_is_killed_repeats_nothing_and_loses_nothing(
    host: Any, server: RetainServer, tmp_path: Path, moment: str
) -> None:
    server.start()
    env = {}
    if moment == "before it is queued":
        command = [sys.executable, "-c", GATE, str(tmp_path / "killed")]
        env = {"MEM_RETAIN__BEFORE_ENQUEUE": json.dumps(command)}
    talk = Talk()
    bridge = opened(host, server, env=env)
    for number in (1, 2):
        turn(host, bridge, talk, number)
        settled(bridge)

    def kill(body: str) -> None:
        if "question 3" in body:
            server.before = server.after = lambda body: None
            os.kill(bridge.process.pid, signal.SIGKILL)

    if moment == "on its way":
        server.before = kill
    elif moment == "its answer lost":
        server.after = kill
    turn(host, bridge, talk, 3)
    assert bridge.gone() == -signal.SIGKILL

    again = resumed(host, server, talk, env=env)
    turn(host, again, talk, 4)
    settled(again)
    again.call("session/end", {"reason": "quit"})
    again.call("shutdown")
    # A write that was interrupted is tried again when the bank's next try is due.
    for _ in range(3):
        if sorted(server.questions) == [1, 2, 3, 4]:
            break
        late = opened(host, server, session="s9", env=env)
        settled(late)
        late.call("session/end", {"reason": "quit"})
        late.call("shutdown")
    assert server.questions == [1, 2, 3, 4]


@pytest.mark.timeout(180)
@pytest.mark.spec("s1/S-CUR-1", "s1/S-CUR-2", "s1/S-ID-5")
async def test_each_entry_once_over_restart_resume_fork_branch_and_compaction(
    host: Any, server: RetainServer
) -> None:
    server.start()
    talk = Talk()
    bridge = opened(host, server)
    turn(host, bridge, talk, 1)
    turn(host, bridge, talk, 2)
    bridge.signal(signal.SIGKILL)
    bridge.gone()

    bridge = resumed(host, server, talk)
    turn(host, bridge, talk, 3)
    bridge.call("compact/before", {"entries": talk.path[:4], "reason": "manual"})
    bridge.call("compact/after")
    talk.path = talk.path[4:]
    turn(host, bridge, talk, 4)
    # Back to an older entry, and on from there.
    whole = list(talk.path)
    talk.path = whole[:2]
    turn(host, bridge, talk, 5)
    settled(bridge)
    bridge.call("session/end", {"reason": "fork"})

    # A fork repeats the path that it comes from under a name of its own.
    host.open(bridge, session="s1-fork", reason="fork", entries=list(talk.path))
    turn(host, bridge, talk, 6)
    settled(bridge)
    bridge.call("session/end", {"reason": "quit"})
    bridge.call("shutdown")

    assert sorted(server.questions) == [1, 2, 3, 4, 5, 6]
    names = {item["document_id"] for item in server.items}
    assert len({name for name in names if re.fullmatch(r"generic-session:[0-9a-f]{16}", name)}) == 2
