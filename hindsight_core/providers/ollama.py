"""Ollama's own chat API: unlike its OpenAI form it takes the size of the context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hindsight_core.errors import ProviderError
from hindsight_core.providers.base import Completion, CompletionRequest
from hindsight_core.providers.http import Endpoint, HttpError
from hindsight_core.providers.openai import STAGE_HEADER, bearer, usage

if TYPE_CHECKING:
    import httpx

    from hindsight_core.config.settings import Settings
    from hindsight_core.services import Services

DEFAULT_URL = "http://127.0.0.1:11434"


class OllamaModel:
    """Implements `hindsight_core.providers.base.Model`.

    Args:
        endpoint: Where to ask.
        context_window: Tokens of context; None leaves Ollama's default, which cuts long prompts
            without a word.
    """

    def __init__(self, endpoint: Endpoint, *, context_window: int | None = None) -> None:
        self._endpoint = endpoint
        self._window = context_window
        self._thinks = True
        self._default: str | None = None

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer one request; raises `ProviderError`."""
        model = request.model or await self._first_model()
        headers = {STAGE_HEADER: request.stage.encode("ascii", "replace").decode()}
        payload = self._body(request, model)
        try:
            answer = await self._endpoint.post("/api/chat", payload, headers=headers)
        except HttpError as error:
            if error.status != 400 or "think" not in error.detail or "think" not in payload:
                raise
            self._thinks = False
            payload = self._body(request, model)
            answer = await self._endpoint.post("/api/chat", payload, headers=headers)
        message = answer.get("message")
        text = message.get("content") if isinstance(message, dict) else None
        if not isinstance(text, str) or not text.strip():
            raise ProviderError(f"ollama answered {request.stage} with an empty text")
        return Completion(
            text=text, model=model, usage=usage(answer, "prompt_eval_count", "eval_count")
        )

    async def close(self) -> None:
        """Close the connection."""
        await self._endpoint.close()

    def _body(self, request: CompletionRequest, model: str) -> dict[str, Any]:
        system = [{"role": "system", "content": request.system}] if request.system else []
        options = {
            "num_predict": request.max_tokens,
            "num_ctx": self._window,
            "temperature": request.temperature,
        }
        payload: dict[str, Any] = {
            "model": model,
            "messages": [
                *system,
                *({"role": m.role, "content": m.content} for m in request.messages),
            ],
            "stream": False,
            "options": {key: value for key, value in options.items() if value is not None},
        }
        if request.json:
            payload["format"] = "json"
        if request.reasoning and self._thinks:
            payload["think"] = request.reasoning != "off"
        return payload

    async def _first_model(self) -> str:
        if self._default is None:
            listed = (await self._endpoint.get("/api/tags")).get("models")
            first = listed[0].get("name") if isinstance(listed, list) and listed else None
            if not isinstance(first, str):
                raise ProviderError(
                    f"ollama at {self._endpoint.shown} has no model. Pull one, or set "
                    "models.model.",
                    retryable=False,
                )
            self._default = first
        return self._default


def ollama_factory(
    settings: Settings, services: Services, *, transport: httpx.AsyncBaseTransport | None = None
) -> OllamaModel:
    """The factory registered as ``ollama``."""
    models = settings.models
    return OllamaModel(
        Endpoint(
            name="ollama",
            base_url=(models.base_url or DEFAULT_URL).rstrip("/").removesuffix("/v1"),
            section="models",
            key_env=models.api_key_env,
            headers=bearer,
            timeout_s=models.timeout_ms / 1000,
            clock=services.clock,
            env=services.env,
            transport=transport,
        ),
        context_window=models.context_window,
    )
