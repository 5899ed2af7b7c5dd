"""Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import ProviderError
from hindsight_core.providers.base import Completion, CompletionRequest, Usage
from hindsight_core.providers.credentials import stored_key
from hindsight_core.providers.http import Endpoint
from hindsight_core.providers.openai import STAGE_HEADER, joined, usage

if TYPE_CHECKING:
    import httpx

    from hindsight_core.config.settings import Settings
    from hindsight_core.services import Services

DEFAULT_URL = "https://api.anthropic.com"
VERSION = "2023-06-01"
DEFAULT_MAX_TOKENS = 2048


class AnthropicModel:
    """Implements `hindsight_core.providers.base.Model`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer one request; raises `ProviderError`."""
        if request.model is None:
            raise ProviderError(
                "models.provider = anthropic needs models.model, the name of a model.",
                retryable=False,
            )
        headers = {STAGE_HEADER: request.stage.encode("ascii", "replace").decode()}
        answer = await self._endpoint.post("/v1/messages", body(request), headers=headers)
        text = joined(answer.get("content"))
        if not text.strip():
            cut = answer.get("stop_reason") == "max_tokens"
            why = ": its tokens ran out. Raise models.max_tokens." if cut else ""
            raise ProviderError(f"anthropic answered {request.stage} with an empty text{why}")
        return Completion(
            text=text, model=str(answer.get("model") or request.model), usage=_usage(answer)
        )

    async def close(self) -> None:
        """Close the connection."""
        await self._endpoint.close()


def anthropic_factory(
    settings: Settings, services: Services, *, transport: httpx.AsyncBaseTransport | None = None
) -> AnthropicModel:
    """The factory registered as ``anthropic``."""
    models = settings.models
    stored = stored_key(services.bridge, "anthropic", models.base_url or DEFAULT_URL)
    if not models.base_url and not models.api_key_env and stored is None:
        raise ProviderError(
            "models.provider = anthropic needs models.api_key_env, the name of the environment "
            "variable that holds the key.",
            retryable=False,
        )
    return AnthropicModel(
        Endpoint(
            name="anthropic",
            base_url=(models.base_url or DEFAULT_URL).rstrip("/").removesuffix("/v1"),
            section="models",
            key_env=models.api_key_env,
            headers=_headers,
            timeout_s=models.timeout_ms / 1000,
            clock=services.clock,
            env=services.env,
            transport=transport,
            stored=stored,
        )
    )


def body(request: CompletionRequest) -> dict[str, Any]:
    """The wire form of a request; a prefix worth caching is marked."""
    payload: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens or DEFAULT_MAX_TOKENS,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
    }
    if request.temperature is not None:
        payload["temperature"] = min(max(request.temperature, 0.0), 1.0)
    if request.system:
        block: dict[str, Any] = {"type": "text", "text": request.system}
        if request.cache:
            block["cache_control"] = {"type": "ephemeral"}
        payload["system"] = [block]
    return payload


def _headers(key: str | None) -> dict[str, str]:
    return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}


def _usage(answer: Mapping[str, Any]) -> Usage | None:
    counts = answer.get("usage")
    if not isinstance(counts, dict):
        return None
    cached = sum(
        counts[key]
        for key in ("cache_creation_input_tokens", "cache_read_input_tokens")
        if isinstance(counts.get(key), int)
    )
    read = counts.get("input_tokens")
    whole = {**counts, "input_tokens": read + cached if isinstance(read, int) else read}
    return usage(whole, "input_tokens", "output_tokens")
