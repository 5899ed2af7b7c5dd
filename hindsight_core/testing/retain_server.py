"""As much of a Hindsight server as retaining needs, on a loopback port; it can be down."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_BANK = re.compile(r"^.*/banks/[^/]+")


class RetainServer:
    """Documents grow or are replaced, an operation counts once; nothing is ever found.

    Attributes:
        items: Every addition that is kept, in order.
        before: Called with a retain's body before anything of it is kept, and again after.
        after: See ``before``.
    """

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.items: list[dict[str, Any]] = []
        self.operations: set[str] = set()
        self.before: Callable[[str], None] = lambda body: None
        self.after: Callable[[str], None] = lambda body: None
        self._http: ThreadingHTTPServer | None = None
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The value for ``hindsight.base_url``, also while it is down."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serve from now on, on the port that it has had from the beginning."""
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                """Any request."""
                length = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(length).decode()
                path = _BANK.sub("", self.path.partition("?")[0])
                told = json.dumps(owner.told(self.command, path, body)).encode()
                try:
                    self.send_response(200)
                    self.send_header("content-length", str(len(told)))
                    self.end_headers()
                    self.wfile.write(told)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_PATCH = answer

            def log_message(self, *args: object) -> None:
                """Nothing on stderr."""

        ThreadingHTTPServer.allow_reuse_address = True
        self._http = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """Be down."""
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
            self._http = None

    def told(self, method: str, path: str, body: str) -> object:
        """The answer to a request below the bank."""
        if method == "POST" and path == "/memories":
            self.before(body)
            given = json.loads(body)
            operation = given.get("operation_id") or f"none-{len(self.operations)}"
            with self._lock:
                if operation not in self.operations:
                    self.operations.add(operation)
                    for item in given["items"]:
                        self._keep(item)
            self.after(body)
            return {"success": True, "operation_id": operation}
        if path.startswith("/operations/"):
            return {"status": "completed"}
        known: dict[str, object] = {
            "/version": {"api_version": "1.1.0", "features": {"worker": True}},
            "/health": {"status": "healthy"},
            "/config": {"overrides": {}},
            "/stats": {"total_nodes": 0, "total_documents": 0, "nodes_by_fact_type": {}},
            "/memories/list": {"items": [], "total": 0},
            "/memories/recall": {"results": []},
        }
        return known.get(path, {})

    def _keep(self, item: dict[str, Any]) -> None:
        """What is not appended takes the place of the document that was there."""
        document = item.get("document_id")
        held = [at for at, old in enumerate(self.items) if old.get("document_id") == document]
        if item.get("update_mode") == "append" or document is None or not held:
            self.items.append(item)
            return
        self.items[held[0]] = item
        for at in reversed(held[1:]):
            del self.items[at]

    @property
    def said(self) -> list[tuple[str, str | None]]:
        """What the user said, as it was stored, with the time that stands beside it."""
        messages = [m for item in self.items for m in json.loads(item["content"])]
        return [
            (m["content"], m.get("timestamp")) if isinstance(m["content"], str)
            else (m["content"][0]["text"], m.get("timestamp"))
            for m in messages if m["role"] == "user"
        ]  # fmt: skip

    @property
    def questions(self) -> list[int]:
        """Numbers of the questions in it, in the order of arrival."""
        return [int(n) for text, _ in self.said for n in re.findall(r"question (\d+)", text)]
