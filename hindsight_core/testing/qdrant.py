"""A double of a Qdrant server for tests: the client library's local mode behind the REST paths.

No package registry has the server itself. What is real here: every request body must be valid
for the request models that the client library generates from Qdrant's OpenAPI description, with
no key too many; search, filters and payloads are the library's own, which its authors compare
with their server; answers are printed from its answer models. What is not: indexes, limits and
speed of a server, its error texts, and the network. Needs the package ``qdrant-client``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from threading import Thread
from typing import Any
from urllib.parse import unquote

import httpx

_PATH = re.compile(r"/collections/([^/]+)(/.*)?\Z")


class QdrantDouble:
    """Collections in memory.

    Attributes:
        calls: Method and path of every request, in order.
        answer: Set it, and every request is answered by it: a status, or an exception to raise.
        keys: The ``api-key`` header of every request.
    """

    def __init__(self) -> None:
        self._models = import_module("qdrant_client.http.models")
        self._local = import_module("qdrant_client").QdrantClient(":memory:")
        self.calls: list[str] = []
        self.keys: list[str | None] = []
        self.answer: int | Exception | None = None
        self._paths: dict[str, Callable[[str, Any], Any]] = {
            "GET": lambda name, _: self._local.get_collection(name),
            "PUT": self._create,
            "DELETE": lambda name, _: self._local.delete_collection(name),
            "PUT /index": self._index,
            "PUT /points": self._upsert,
            "POST /points": self._retrieve,
            "POST /points/query": self._query,
            "POST /points/scroll": self._scroll,
            "POST /points/count": self._count,
            "POST /points/delete": self._delete,
            "POST /points/batch": self._batch,
        }

    @property
    def transport(self) -> httpx.MockTransport:
        """For an httpx client."""
        return httpx.MockTransport(self._handle)

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve it on a port of this machine; gives the URL."""
        double = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                asked = httpx.Request(
                    self.command,
                    f"http://127.0.0.1{self.path}",
                    headers=dict(self.headers),
                    content=self.rfile.read(size),
                )
                told = double._handle(asked)
                self.send_response(told.status_code)
                self.end_headers()
                self.wfile.write(told.content)

            do_PUT = do_POST = do_DELETE = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        with HTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_port}"
            finally:
                server.shutdown()
                thread.join()

    def close(self) -> None:
        """Forget everything."""
        self._local.close()

    def _handle(self, request: httpx.Request) -> httpx.Response:
        self.calls.append(f"{request.method} {request.url.path}")
        self.keys.append(request.headers.get("api-key"))
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is not None:
            return _refused(self.answer, "as the test wants it")
        found = _PATH.match(request.url.path)
        work = self._paths.get(f"{request.method} {found[2] or ''}".strip()) if found else None
        if found is None or work is None:
            return httpx.Response(404)
        body = json.loads(request.content) if request.content else None
        name = unquote(found[1])
        there = self._local.collection_exists(name)
        if not there and work != self._create:
            return _refused(404, f"Not found: Collection `{name}` doesn't exist!")
        if there and work == self._create:
            return _refused(409, f"Wrong input: Collection `{name}` already exists!")
        try:
            result = work(name, body)
        except ValueError as error:
            return _refused(400, str(error))
        return httpx.Response(200, json={"result": _plain(result), "status": "ok", "time": 0.001})

    def _read(self, model: str, body: Any) -> Any:  # noqa: ANN401 - as different as the models
        return getattr(self._models, model).model_validate(body)

    def _create(self, name: str, body: Any) -> Any:  # noqa: ANN401
        asked = self._read("CreateCollection", body)
        return self._local.create_collection(name, vectors_config=asked.vectors)

    def _index(self, _name: str, body: Any) -> Any:  # noqa: ANN401
        self._read("CreateFieldIndex", body)
        return {"operation_id": 1, "status": "completed"}

    def _upsert(self, name: str, body: Any) -> Any:  # noqa: ANN401
        return self._local.upsert(name, points=self._read("PointsList", body).points)

    def _retrieve(self, name: str, body: Any) -> Any:  # noqa: ANN401
        asked = self._read("PointRequest", body)
        return self._local.retrieve(name, asked.ids, with_payload=asked.with_payload)

    def _query(self, name: str, body: Any) -> Any:  # noqa: ANN401
        asked = self._read("QueryRequest", body)
        return self._local.query_points(
            name,
            query=asked.query,
            query_filter=asked.filter,
            limit=asked.limit,
            with_payload=asked.with_payload,
            score_threshold=asked.score_threshold,
        )

    def _scroll(self, name: str, body: Any) -> Any:  # noqa: ANN401
        asked = self._read("ScrollRequest", body)
        points, following = self._local.scroll(
            name,
            scroll_filter=asked.filter,
            limit=asked.limit,
            offset=asked.offset,
            with_payload=asked.with_payload,
        )
        return {"points": points, "next_page_offset": following}

    def _count(self, name: str, body: Any) -> Any:  # noqa: ANN401
        return self._local.count(name, count_filter=self._read("CountRequest", body).filter)

    def _delete(self, name: str, body: Any) -> Any:  # noqa: ANN401
        return self._local.delete(name, points_selector=self._read("PointIdsList", body))

    def _batch(self, name: str, body: Any) -> Any:  # noqa: ANN401
        asked = self._read("UpdateOperations", body)
        return self._local.batch_update_points(name, asked.operations)


def _refused(status: int, text: str) -> httpx.Response:
    return httpx.Response(status, json={"status": {"error": text}, "time": 0.0})


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value
