"""A model server that a real agent program can talk to: it streams, and it can call tools."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hindsight_core.testing.model_server import ModelServer, Recorded

Answer = tuple[int, Mapping[str, str], bytes]


class AgentServer(ModelServer):
    """`ModelServer` for agents: requests with ``stream`` are answered as server-sent events.

    The agent's own requests have the stage ``""``. A reply there may also be a tool call:
    ``{"call": {"name": ..., "arguments": {...}}}``, with ``"thinking": ...`` before it; a function
    of the request decides by what the request holds.
    """

    def conversation(self) -> list[Recorded]:
        """The agent's own requests: those of no stage, with tools or without."""
        return [r for r in self.requests if r.path.endswith("/chat/completions") and not r.stage]

    def answer(self, request: Recorded) -> Answer:
        """Status, headers and body for a request."""
        status, headers, raw = super().answer(request)
        if status != 200 or not request.path.endswith("/chat/completions"):
            return status, headers, raw
        completion = json.loads(raw)
        message = completion["choices"][0]["message"]
        calls = _calls(message["content"], completion["id"])
        if calls is not None:
            thinking = json.loads(message["content"]).get("thinking")
            message.update(content=None, tool_calls=calls)
            if thinking:
                message["reasoning_content"] = thinking
            completion["choices"][0]["finish_reason"] = "tool_calls"
        if not request.body.get("stream"):
            return 200, headers, json.dumps(completion).encode()
        events = b"".join(b"data: " + json.dumps(e).encode() + b"\n\n" for e in _chunks(completion))
        return 200, {"content-type": "text/event-stream"}, events + b"data: [DONE]\n\n"


def texts(request: Recorded) -> list[str]:
    """Text of every message of a request, in order."""
    return [_text(message.get("content")) for message in request.body.get("messages", [])]


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _calls(text: str, reply_id: str) -> list[dict[str, Any]] | None:
    if not text.startswith('{"call"'):
        return None
    call = json.loads(text)["call"]
    function = {"name": call["name"], "arguments": json.dumps(call.get("arguments", {}))}
    return [{"index": 0, "id": f"call-{reply_id}", "type": "function", "function": function}]


def _chunks(completion: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    head = {"id": completion["id"], "object": "chat.completion.chunk", "created": 0}
    head["model"] = completion["model"]
    choice = completion["choices"][0]
    end = choice["finish_reason"]
    yield {**head, "choices": [{"index": 0, "delta": choice["message"], "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": end}]}
    yield {**head, "choices": [], "usage": completion["usage"]}
