"""A real OpenAI-compatible HTTP server on a loopback port that answers from a script."""

from __future__ import annotations

import argparse
import json
import re
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from hindsight_core.testing.embedders import hash_vector
from hindsight_core.testing.models import Replies

_MARK = re.compile(r"\(hindsight stage: ([^()\s]+)\)\s*$")
_BEHAVIOUR = frozenset({"status", "body", "headers", "delay_s", "text"})


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it came over the wire.

    Attributes:
        stage: From the header ``X-Hindsight-Stage``, else from the system line's mark.
        mark: The stage that the system line's mark names, if it has one.
        body: The JSON body.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any] = field(default_factory=dict)
    stage: str = ""
    mark: str | None = None

    @property
    def prompt(self) -> str:
        """The last message's text."""
        messages = self.body.get("messages") or [{}]
        return str(messages[-1].get("content", ""))


class ModelServer:
    """Serves chat completions, embeddings and a model list; use it as a context manager.

    A reply is a text, a JSON answer, or a behaviour: a mapping with any of ``status``, ``body``
    (sent as it is), ``headers``, ``delay_s`` and ``text``.

    Attributes:
        requests: Everything that came in, in order.
        replies: Change a stage's reply with ``replies.set(stage, reply)``.
    """

    def __init__(
        self,
        script: object = None,
        *,
        port: int = 0,
        model: str = "scripted",
        key: str | None = None,
    ) -> None:
        self.requests: list[Recorded] = []
        self.replies = Replies({} if script is None else script)
        self.model = model
        self.key = key
        self.stopping = threading.Event()
        self.connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        owner = self

        class Handler(_Handler):
            server_owner = owner

        self._http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The value for ``models.base_url``."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def stages(self) -> list[str]:
        """Stages of the completions asked for, in order."""
        return [r.stage for r in self.requests if r.path.endswith("/chat/completions")]

    def start(self) -> ModelServer:
        """Serve in a thread."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop and free the port; replies that are still delayed end at once."""
        self.stopping.set()
        self._http.shutdown()
        for connection in list(self.connections):
            # Kept-alive connections would be served on by their threads.
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> ModelServer:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def serve(self) -> None:
        """Serve on this thread until interrupted."""
        try:
            self._http.serve_forever()
        except KeyboardInterrupt:
            self._http.server_close()

    def answer(self, request: Recorded) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body for a request."""
        with self._lock:
            self.requests.append(request)
            refused = self._refused(request)
            if refused is not None:
                return refused
            if request.path.endswith("/models"):
                return _json(200, {"object": "list", "data": [{"id": self.model}]})
            if request.path.endswith("/embeddings"):
                return _json(200, _embeddings(request.body))
            if not request.path.endswith("/chat/completions"):
                return _json(404, {"error": {"message": f"no such path: {request.path}"}})
            try:
                reply = self.replies.next(request.stage, request.prompt)
            except KeyError:
                message = f"the script has no reply for stage {request.stage!r}"
                return _json(500, {"error": {"message": message}})
        if callable(reply):
            reply = reply(request)
        return self._behave(reply, request)

    def _refused(self, request: Recorded) -> tuple[int, Mapping[str, str], bytes] | None:
        if self.key is None or request.headers.get("authorization") == f"Bearer {self.key}":
            return None
        return _json(401, {"error": {"message": "wrong or missing key"}})

    def _behave(self, reply: object, request: Recorded) -> tuple[int, Mapping[str, str], bytes]:
        if not isinstance(reply, Mapping) or not (_BEHAVIOUR & reply.keys()):
            return _json(200, self._completion(reply, request))
        if reply.get("delay_s"):
            self.stopping.wait(float(reply["delay_s"]))
        headers = {str(k): str(v) for k, v in (reply.get("headers") or {}).items()}
        status = int(reply.get("status", 200))
        if "body" in reply:
            raw = reply["body"]
            return status, headers, raw if isinstance(raw, bytes) else str(raw).encode()
        if status >= 300:
            _, kind, raw = _json(status, {"error": {"message": f"scripted {status}"}})
            return status, {**kind, **headers}, raw
        _, kind, raw = _json(200, self._completion(reply.get("text", ""), request))
        return status, {**kind, **headers}, raw

    def _completion(self, reply: object, request: Recorded) -> dict[str, Any]:
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        asked = sum(len(str(m.get("content", ""))) for m in request.body.get("messages", []))
        return {
            "id": f"reply-{len(self.requests)}",
            "object": "chat.completion",
            "model": request.body.get("model", self.model),
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": text},
                }
            ],
            "usage": {
                "prompt_tokens": -(-asked // 4),
                "completion_tokens": -(-len(text) // 4),
            },
        }


class _Handler(BaseHTTPRequestHandler):
    server_owner: ModelServer
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.server_owner.connections.add(self.connection)

    def finish(self) -> None:
        self.server_owner.connections.discard(self.connection)
        with suppress(OSError):
            super().finish()

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        try:
            body = json.loads(self.rfile.read(length) or b"{}")
        except ValueError:
            body = {}
        self._serve(body if isinstance(body, dict) else {})

    def _serve(self, body: Mapping[str, Any]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        messages = body.get("messages") or [{}]
        system = messages[0].get("content", "") if messages[0].get("role") == "system" else ""
        found = _MARK.search(str(system))
        mark = found[1] if found else None
        status, extra, raw = self.server_owner.answer(
            Recorded(
                method=self.command,
                path=self.path.split("?")[0],
                headers=headers,
                body=body,
                stage=headers.get("x-hindsight-stage") or mark or "",
                mark=mark,
            )
        )
        self._send(status, extra, raw)

    def _send(self, status: int, extra: Mapping[str, str], raw: bytes) -> None:
        try:
            self.send_response(status)
            for name, value in extra.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: requests are recorded."""


def _json(status: int, value: Mapping[str, Any]) -> tuple[int, Mapping[str, str], bytes]:
    raw = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return status, {"content-type": "application/json"}, raw


def _embeddings(body: Mapping[str, Any]) -> dict[str, Any]:
    texts = body.get("input") or []
    texts = [texts] if isinstance(texts, str) else texts
    size = int(body.get("dimensions") or 64)
    rows = [{"index": i, "embedding": hash_vector(str(text), size)} for i, text in enumerate(texts)]
    return {"object": "list", "data": rows, "model": body.get("model", "")}


def main() -> None:
    """Serve a script file until interrupted; the URL goes to stdout."""
    parser = argparse.ArgumentParser(prog="python -m hindsight_core.testing.models")
    parser.add_argument("--script", type=Path, help="JSON: replies by stage")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path, help="append each request as a JSON line")
    options = parser.parse_args()
    script = json.loads(options.script.read_text()) if options.script else {"*": "NONE"}
    server = ModelServer(script, port=options.port)
    if options.log:
        server.requests = _Appending(options.log)
    print(server.url, flush=True)
    server.serve()


class _Appending(list[Recorded]):
    """A list that writes what is appended to a file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def append(self, request: Recorded) -> None:
        super().append(request)
        line = {"stage": request.stage, "path": request.path, "body": request.body}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
