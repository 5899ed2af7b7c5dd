"""A host program's end of a real bridge process: asks, answers, cancels, kills."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

Params = dict[str, Any]
WAIT_S = 30.0


class BridgeError(Exception):
    """An error answer of the bridge.

    Attributes:
        code: The JSON-RPC code.
        data: Its ``data``.
    """

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error.get("message"))
        self.code = error.get("code")
        self.data = error.get("data")


class BridgeProcess:
    """``python -m hindsight_core bridge --host NAME`` and its pipes.

    Args:
        env: The whole environment of the process.
        cwd: Its folder.
        host: The host's name.
        answers: Answers the bridge's own requests, by method; a function may raise.

    Attributes:
        notes: Notifications, in order: pairs of method and params.
        asked: Requests of the bridge, in order: pairs of method and params.
        cancelled: Ids of requests that the bridge gave up.
        strays: Lines of stdout that were no record.
    """

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        cwd: Path,
        host: str = "generic",
        answers: Mapping[str, Callable[[Params], Params]] | None = None,
    ) -> None:
        self.answers = dict(answers or {})
        self.notes: list[tuple[str, Params]] = []
        self.asked: list[tuple[str, Params]] = []
        self.cancelled: list[object] = []
        self.strays: list[str] = []
        self._replies: dict[object, Params] = {}
        self._next = 0
        self._news = threading.Condition()
        self._ended = False
        self.process = subprocess.Popen(  # noqa: S603 (our own command)
            [sys.executable, "-m", "hindsight_core", "bridge", "--host", host],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=dict(env),
        )
        self._threads = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._drain, daemon=True),
        ]
        self.stderr = ""
        for thread in self._threads:
            thread.start()

    def call(self, method: str, params: Params | None = None, *, timeout_s: float = WAIT_S) -> Any:  # noqa: ANN401 (JSON)
        """Ask and wait.

        Raises:
            BridgeError: It answered with an error.
            TimeoutError: It did not answer, or is gone.
        """
        return self.result(self.start(method, params), timeout_s=timeout_s)

    def start(self, method: str, params: Params | None = None) -> int:
        """Ask without waiting; gives the id."""
        self._next += 1
        self.send({"id": self._next, "method": method, "params": params or {}})
        return self._next

    def result(self, request_id: object, *, timeout_s: float = WAIT_S) -> Any:  # noqa: ANN401 (JSON)
        """The answer to a request."""
        if not self.wait(lambda: request_id in self._replies, timeout_s=timeout_s):
            raise TimeoutError(f"no answer to request {request_id}; stderr: {self.stderr[-500:]}")
        reply = self._replies.pop(request_id)
        if "error" in reply:
            raise BridgeError(reply["error"])
        return reply["result"]

    def cancel(self, request_id: int) -> None:
        """Give a request up."""
        self.send({"method": "$/cancel", "params": {"id": request_id}})

    def send(self, record: Params) -> None:
        """One record."""
        self.write(json.dumps({"jsonrpc": "2.0", **record}).encode() + b"\n")

    def write(self, raw: bytes) -> None:
        """Bytes as they are."""
        if self.process.stdin is None:
            raise ValueError("stdin is closed")
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def wait(self, condition: Callable[[], bool], *, timeout_s: float = WAIT_S) -> bool:
        """Wait until something that came in makes a condition true."""
        with self._news:
            self._news.wait_for(lambda: condition() or self._ended, timeout_s)
            return condition()

    def notices(self, *levels: str) -> list[str]:
        """What was told to the person; only with these levels, when any is named."""
        told = [params for method, params in self.notes if method == "notify"]
        return [params["text"] for params in told if not levels or params["level"] in levels]

    def close(self, *, timeout_s: float = WAIT_S) -> int:
        """End of stdin; the exit code."""
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        return self.gone(timeout_s=timeout_s)

    def signal(self, number: int) -> None:
        """Send a signal to the process."""
        self.process.send_signal(number)

    def gone(self, *, timeout_s: float = WAIT_S) -> int:
        """Wait for the end; the exit code."""
        code = self.process.wait(timeout_s)
        for thread in self._threads:
            thread.join(5)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe and not pipe.closed:
                with suppress(BrokenPipeError):  # it died with something of ours unread
                    pipe.close()
        return code

    def __enter__(self) -> BridgeProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.gone()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            try:
                record = json.loads(line)
            except ValueError:
                record = None
            with self._news:
                if not isinstance(record, dict):
                    self.strays.append(line.decode("utf-8", "replace"))
                elif "method" not in record:
                    self._replies[record.get("id")] = record
                elif "id" in record:
                    self.asked.append((record["method"], record["params"]))
                elif record["method"] == "$/cancel":
                    self.cancelled.append(record["params"]["id"])
                else:
                    self.notes.append((record["method"], record["params"]))
                self._news.notify_all()
            if isinstance(record, dict) and "method" in record and "id" in record:
                threading.Thread(target=self._answer, args=(record,), daemon=True).start()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _drain(self) -> None:
        for line in self.process.stderr or ():
            self.stderr += line.decode("utf-8", "replace")

    def _answer(self, record: Params) -> None:
        answer = self.answers.get(record["method"])
        try:
            if answer is None:
                raise ValueError(f"this host has no {record['method']}")
            reply: Params = {"result": answer(record["params"])}
        except Exception as error:
            reply = {"error": {"code": -32000, "message": str(error)}}
        try:
            self.send({"id": record["id"], **reply})
        except (ValueError, OSError):
            return
