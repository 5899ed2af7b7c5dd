from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.errors import ProviderError
from hindsight_core.providers.anthropic import anthropic_factory
from hindsight_core.providers.base import Usage
from hindsight_core.providers.ollama import ollama_factory
from hindsight_core.services import Services


def recording(*answers: Any) -> tuple[httpx.MockTransport, list[httpx.Request]]:
    sent: list[httpx.Request] = []
    left = list(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return left.pop(0) if len(left) > 1 else left[0]

    return httpx.MockTransport(answer), sent


def settings(**models: Any) -> Settings:
    return Settings.model_validate({"models": models})


async def test_anthropic_on_the_wire(request_, monkeypatch) -> None:
    key = "-".join(["made", "up"])
    monkeypatch.setenv("CLAUDE_KEY", key)
    answer = {
        "model": "small-1",
        "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 90, "output_tokens": 2},
    }
    transport, sent = recording(httpx.Response(200, json=answer))
    model = anthropic_factory(settings(api_key_env="CLAUDE_KEY"), Services(), transport=transport)
    completion = await model.complete(replace(request_, model="small", cache=True, temperature=1.5))
    await model.close()
    assert str(sent[0].url) == "https://api.anthropic.com/v1/messages"
    assert sent[0].headers["x-api-key"] == key
    assert sent[0].headers["x-hindsight-stage"] == "recall/judge"
    body = json.loads(sent[0].content)
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert (body["max_tokens"], body["temperature"]) == (2048, 1.0)
    assert completion.text == "one\ntwo"
    assert completion.usage == Usage(input_tokens=95, output_tokens=2)


async def test_anthropic_without_text_has_failed(request_) -> None:
    transport, _ = recording(httpx.Response(200, json={"content": [], "stop_reason": "max_tokens"}))
    model = anthropic_factory(settings(base_url="http://a/v1"), Services(), transport=transport)
    with pytest.raises(ProviderError, match="tokens ran out"):
        await model.complete(replace(request_, model="small"))
    with pytest.raises(ProviderError, match=r"needs models\.model"):
        await model.complete(request_)
    with pytest.raises(ProviderError, match=r"needs models\.api_key_env"):
        anthropic_factory(settings(), Services())


async def test_ollama_on_the_wire(request_) -> None:
    answer = {"message": {"content": "fine"}, "prompt_eval_count": 9, "eval_count": 4}
    transport, sent = recording(
        httpx.Response(200, json={"models": [{"name": "qwen3:4b"}]}),
        httpx.Response(200, json=answer),
    )
    model = ollama_factory(settings(context_window=16000), Services(), transport=transport)
    asked = replace(request_, json=True, max_tokens=160, reasoning="off")
    completion = await model.complete(asked)
    assert [str(r.url) for r in sent] == [
        "http://127.0.0.1:11434/api/tags",
        "http://127.0.0.1:11434/api/chat",
    ]
    body = json.loads(sent[1].content)
    assert body["model"] == "qwen3:4b"
    assert body["options"] == {"num_predict": 160, "num_ctx": 16000}
    assert (body["format"], body["think"], body["stream"]) == ("json", False, False)
    assert completion.usage == Usage(input_tokens=9, output_tokens=4)


async def test_ollama_model_that_cannot_think(request_) -> None:
    transport, sent = recording(
        httpx.Response(400, json={"error": "tiny does not support thinking"}),
        httpx.Response(200, json={"message": {"content": "fine"}}),
        httpx.Response(200, json={"message": {"content": ""}}),
    )
    model = ollama_factory(settings(), Services(), transport=transport)
    asked = replace(request_, model="tiny", reasoning="low")
    assert (await model.complete(asked)).text == "fine"
    assert "think" not in json.loads(sent[1].content)
    with pytest.raises(ProviderError, match="empty text"):
        await model.complete(asked)
    assert len(sent) == 3
