"""The wire forms in which agent programs ask their models: what is in a request, and a reply."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
_NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A reply that calls one of the offered tools."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request says, whatever its form.

    Attributes:
        user: The newest message of the user, all its parts.
        results: What tools answered after it.
        tools: Names of the tools on offer.
        everything: All text that the model is given, in order.
    """

    user: str
    results: tuple[str, ...]
    tools: tuple[str, ...]
    everything: str


Reply = str | ToolCall


class Dialect:
    """One wire form."""

    def read(self, body: Mapping[str, Any]) -> Asked:
        """What a request says."""
        user = ""
        results: list[str] = []
        for role, text in self._messages(body):
            if role == "user":
                user, results = text, []
            elif role == "tool":
                results.append(text)
        everything = "\n".join(_strings(self._seen(body)))
        return Asked(user, tuple(results), tuple(self._tools(body)), everything)

    def write(self, reply: Reply, body: Mapping[str, Any], *, stream: bool) -> tuple[str, bytes]:
        """Content type and body of a reply."""
        whole, events = self._reply(reply, body)
        if not stream:
            return "application/json", json.dumps(whole).encode()
        lines = []
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            lines.append(f"{name}data: {json.dumps(event)}\n\n")
        return "text/event-stream", "".join(lines).encode()

    def _messages(self, body: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        raise NotImplementedError

    def _tools(self, body: Mapping[str, Any]) -> Iterable[str]:
        raise NotImplementedError

    def _seen(self, body: Mapping[str, Any]) -> object:
        raise NotImplementedError

    def _reply(self, reply: Reply, body: Mapping[str, Any]) -> tuple[Json, list[Json]]:
        raise NotImplementedError


class Anthropic(Dialect):
    """Messages, as Claude Code sends them."""

    def _messages(self, body: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        for message in body.get("messages", []):
            content = message.get("content")
            parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
            answered = [p for p in parts if p.get("type") == "tool_result"]
            if answered:
                yield from (("tool", "\n".join(_strings(p.get("content")))) for p in answered)
            else:
                yield message.get("role", ""), "\n".join(_strings([p.get("text") for p in parts]))

    def _tools(self, body: Mapping[str, Any]) -> Iterable[str]:
        return (tool.get("name", "") for tool in body.get("tools") or [])

    def _seen(self, body: Mapping[str, Any]) -> object:
        return [body.get("system"), body.get("messages")]

    def _reply(self, reply: Reply, body: Mapping[str, Any]) -> tuple[Json, list[Json]]:
        empty: Json
        if isinstance(reply, ToolCall):
            used = {"type": "tool_use", "id": f"toolu_{next(_NUMBERS)}", "name": reply.name}
            block, empty = {**used, "input": dict(reply.arguments)}, {**used, "input": {}}
            said = json.dumps(dict(reply.arguments))
            delta = {"type": "input_json_delta", "partial_json": said}
        else:
            block, empty = {"type": "text", "text": reply}, {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": reply}
        stop = "tool_use" if isinstance(reply, ToolCall) else "end_turn"
        whole = {
            "id": f"msg_{next(_NUMBERS)}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": [block],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 9, "output_tokens": 3},
        }
        return whole, [
            {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": stop, "stop_sequence": None},
                "usage": {"output_tokens": 3},
            },
            {"type": "message_stop"},
        ]


class Responses(Dialect):
    """OpenAI's responses, as Codex sends them."""

    def _messages(self, body: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        for item in body.get("input", []):
            kind = item.get("type", "message")
            if kind == "message":
                yield item.get("role", ""), "\n".join(_strings(item.get("content")))
            elif kind.endswith("_call_output"):
                yield "tool", "\n".join(_strings(item.get("output")))

    def _tools(self, body: Mapping[str, Any]) -> Iterable[str]:
        for tool in body.get("tools") or []:
            inner = tool.get("tools") if tool.get("type") == "namespace" else None
            yield from (each["name"] for each in inner or [tool] if "name" in each)

    def _seen(self, body: Mapping[str, Any]) -> object:
        return [body.get("instructions"), body.get("input")]

    def _reply(self, reply: Reply, body: Mapping[str, Any]) -> tuple[Json, list[Json]]:
        if isinstance(reply, ToolCall):
            said = json.dumps(dict(reply.arguments))
            number = next(_NUMBERS)
            item: dict[str, Any] = {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": f"call_{number}",
            }
            item |= {"name": reply.name, "arguments": said, "status": "completed"}
            for tool in body.get("tools") or []:
                # Tools of an MCP server come as a namespace of their own.
                if any(each.get("name") == reply.name for each in tool.get("tools") or []):
                    item["namespace"] = tool["name"]
        else:
            text = {"type": "output_text", "text": reply, "annotations": []}
            item = {
                "type": "message",
                "id": f"msg_{next(_NUMBERS)}",
                "role": "assistant",
                "content": [text],
            }
            item |= {"status": "completed"}
        usage = {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}
        whole: dict[str, Any] = {
            "id": "resp_1",
            "object": "response",
            "status": "completed",
            "output": [item],
        }
        whole["usage"] = usage
        begun = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
        return whole, [
            {"type": "response.created", "response": begun},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        ]


class Gemini(Dialect):
    """Google's content generation, as Gemini CLI sends it."""

    def _messages(self, body: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        for content in body.get("contents", []):
            parts = content.get("parts", [])
            answered = [p["functionResponse"] for p in parts if "functionResponse" in p]
            if answered:
                yield from (("tool", "\n".join(_strings(p.get("response")))) for p in answered)
            else:
                yield content.get("role", ""), "\n".join(_strings(parts))

    def _tools(self, body: Mapping[str, Any]) -> Iterable[str]:
        for tool in body.get("tools") or []:
            yield from (each["name"] for each in tool.get("functionDeclarations", []))

    def _seen(self, body: Mapping[str, Any]) -> object:
        return [body.get("systemInstruction"), body.get("contents")]

    def _reply(self, reply: Reply, body: Mapping[str, Any]) -> tuple[Json, list[Json]]:
        part: Json = {"text": reply}
        if isinstance(reply, ToolCall):
            part = {"functionCall": {"name": reply.name, "args": dict(reply.arguments)}}
        content = {"role": "model", "parts": [part]}
        whole = {
            "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3},
        }
        return whole, [whole]


def dialect_of(path: str) -> Dialect | None:
    """The form in which a path is asked; None when it is no request to a model."""
    if path.endswith("/messages"):
        return Anthropic()
    if path.endswith("/responses"):
        return Responses()
    if path.endswith(("generateContent", "streamGenerateContent")):
        return Gemini()
    return None


def _strings(value: object) -> list[str]:
    """Every text inside a value, in order."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        kept = (item for key, item in value.items() if key != "type")
        return [text for item in kept for text in _strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return []
