"""A memory server on loopback that stores, and fails in the ways that servers fail."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

ANSWERS: dict[str, object] = {
    "/version": {"api_version": "1.1.0", "features": {"worker": True}},
    "/health": {"status": "healthy", "database": "connected"},
    "/memories/recall": {"results": []},
    "/memories/list": {"items": [], "total": 0},
    "/documents": {"items": [], "total": 0},
    "/config": {"config": {"retain_chunk_size": 3000}, "overrides": {}},
    "/stats": {"total_nodes": 0, "total_documents": 0},
}


class MemoryServer:
    """Keeps documents by their id, as the real one does; may be stopped and started again.

    Attributes:
        documents: Text by document id; a document of the same id replaces the one before.
        mode: What happens to the next writes: ``ok``; ``cut`` the connection before anything is
            stored; ``stored-cut`` just after it; ``stored-late`` answers after `late_s`.
        left: To how many writes that happens; then all is well again.
    """

    def __init__(self, *, late_s: float = 3.0) -> None:
        self.documents: dict[str, str] = {}
        self.mode, self.left, self.late_s = "ok", 0, late_s
        self.operations: set[str] = set()
        self._lock = threading.Lock()
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen, on the same port as before."""
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None: ...

            def answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or b"{}")
                server.handle(self, body)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        ThreadingHTTPServer.allow_reuse_address = True
        self._http = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._http.daemon_threads = True
        self.port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """As a server that is restarted: nobody listens."""
        self._http.shutdown()
        self._http.server_close()

    def handle(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        path = unquote(urlsplit(request.path).path)
        if request.command == "POST" and path.endswith("/memories"):
            self._write(request, body)
            return
        name = path.rpartition("/")[2]
        for ending, answer in ANSWERS.items():
            if path.endswith(ending):
                reply(request, answer)
                return
        if "/documents/" in path and name in self.documents:
            reply(request, {"id": name, "original_text": self.documents[name]})
        elif request.command == "PUT":
            reply(request, {})
        else:
            reply(request, {"detail": "Not Found"}, status=404)

    def _write(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        mode = self._mode()
        if mode != "cut":
            self._store(body)
        if mode in ("cut", "stored-cut"):
            request.connection.close()
            return
        if mode == "stored-late":
            time.sleep(self.late_s)
        items = len(body["items"])
        reply(request, {"success": True, "items_count": items, "async": body.get("async")})

    def _mode(self) -> str:
        with self._lock:
            if self.left <= 0:
                return "ok"
            self.left -= 1
            return self.mode

    def _store(self, body: dict[str, Any]) -> None:
        operation = body.get("operation_id")
        with self._lock:
            if operation is not None and operation in self.operations:
                return
            self.operations.add(operation)
            for item in body["items"]:
                name = item.get("document_id") or f"unnamed{len(self.documents)}"
                before = self.documents.get(name, "")
                grows = item.get("update_mode") == "append" and before
                text = item["content"]
                self.documents[name] = f"{before}\n{text}" if grows else text


def reply(request: BaseHTTPRequestHandler, data: object, *, status: int = 200) -> None:
    content = json.dumps(data).encode()
    try:
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)
    except OSError:
        return
