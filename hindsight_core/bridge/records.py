"""JSON-RPC 2.0 records: one JSON object a line, UTF-8, LF only (protocol.md)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

PARSE, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
CANCELLED, UNAVAILABLE = -32800, -32000

RequestId = str | int


class RpcError(Exception):
    """An error reply, ours or the other side's.

    Attributes:
        code: JSON-RPC code.
        data: ``{reason, retryable}`` for `UNAVAILABLE`.
    """

    def __init__(self, code: int, message: str, *, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True)
class Call:
    """A request (with an id) or a notification (without)."""

    method: str
    params: dict[str, Any]
    id: RequestId | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to a request of ours."""

    id: RequestId
    result: Any = None
    error: RpcError | None = None


def parse(line: bytes) -> Call | Reply:
    """Read one line.

    Raises:
        RpcError: Not JSON, or not a JSON-RPC record; ``data["id"]`` is the id where there was one.
    """
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE, f"not a JSON object: {error}") from error
    if not isinstance(record, dict):
        raise RpcError(INVALID_REQUEST, "a record must be one JSON object")
    if "method" not in record:
        return _reply(record)
    method, params, request_id = record["method"], record.get("params", {}), record.get("id")
    if not isinstance(method, str) or not _is_id(request_id):
        raise RpcError(INVALID_REQUEST, "`method` must be a string and `id` a string or integer")
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params must be an object", data={"id": request_id})
    return Call(method, params, request_id)


def dump(record: dict[str, Any]) -> bytes:
    """Write one line; lone surrogates become escapes, never an encoding error."""
    text = json.dumps({"jsonrpc": "2.0", **record}, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps({"jsonrpc": "2.0", **record}).encode() + b"\n"


def error_record(error: RpcError, request_id: RequestId | None) -> dict[str, Any]:
    """The error reply for a request; id null where it had none."""
    body: dict[str, Any] = {"code": error.code, "message": str(error)}
    if error.data is not None:
        body["data"] = error.data
    return {"id": request_id, "error": body}


def _reply(record: dict[str, Any]) -> Reply:
    reply_id = record.get("id")
    if reply_id is None or not _is_id(reply_id) or not ("result" in record or "error" in record):
        raise RpcError(INVALID_REQUEST, "neither a request nor an answer")
    error = record.get("error")
    if error is None:
        return Reply(reply_id, result=record.get("result"))
    body = error if isinstance(error, dict) else {"message": str(error)}
    code = body.get("code")
    return Reply(
        reply_id,
        error=RpcError(code if isinstance(code, int) else 0, str(body.get("message", "failed"))),
    )


def _is_id(value: object) -> bool:
    return value is None or (isinstance(value, str | int) and not isinstance(value, bool))
