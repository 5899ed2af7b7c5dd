"""Chat completions of any OpenAI-compatible server; a URL without a key works."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from hindsight_core.errors import ProviderError
from hindsight_core.providers.base import Completion, CompletionRequest, Usage
from hindsight_core.providers.credentials import stored_key
from hindsight_core.providers.http import Endpoint, HttpError

if TYPE_CHECKING:
    import httpx

    from hindsight_core.config.settings import Settings
    from hindsight_core.services import Services

STAGE_HEADER = "X-Hindsight-Stage"
EFFORTS = frozenset({"minimal", "low", "medium", "high"})
# A word in a 400 answer -> the parameter that this server does not take.
_COMPLAINTS = (
    ("max_completion_tokens", "max_tokens"),
    ("response_format", "response_format"),
    ("json_object", "response_format"),
    ("reasoning_effort", "reasoning_effort"),
    ("temperature", "temperature"),
)


class OpenAIModel:
    """Implements `hindsight_core.providers.base.Model`.

    A parameter that a server refuses is left out once it has said so, in this call and later.

    Args:
        endpoint: Where to ask.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._refused: set[str] = set()
        self._default: str | None = None

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer one request; raises `ProviderError`."""
        model = request.model or await self._first_model()
        payload = body(request, model)
        headers = {STAGE_HEADER: request.stage.encode("ascii", "replace").decode()}
        while True:
            try:
                sent = without(payload, self._refused)
                answer = await self._endpoint.post("/chat/completions", sent, headers=headers)
            except HttpError as error:
                complaint = self._complaint(error, sent)
                if complaint is None:
                    raise
                self._refused.add(complaint)
            else:
                return read(answer, request, model, self._endpoint.name)

    async def close(self) -> None:
        """Close the connection."""
        await self._endpoint.close()

    def _complaint(self, error: HttpError, sent: Mapping[str, Any]) -> str | None:
        """The parameter that a 400 answer is about, if it was sent and can be left out."""
        if error.status not in (400, 422):
            return None
        text = error.detail.lower()
        return next((p for word, p in _COMPLAINTS if word in text and p in sent), None)

    async def _first_model(self) -> str:
        """The model that the server lists first, for servers that have only one."""
        if self._default is None:
            listed = (await self._endpoint.get("/models")).get("data")
            first = listed[0].get("id") if isinstance(listed, list) and listed else None
            if not isinstance(first, str):
                raise ProviderError(
                    f"{self._endpoint.name} at {self._endpoint.shown} names no model. "
                    "Set models.model.",
                    retryable=False,
                )
            self._default = first
        return self._default


def openai_factory(
    settings: Settings, services: Services, *, transport: httpx.AsyncBaseTransport | None = None
) -> OpenAIModel:
    """The factory registered as ``openai``."""
    models = settings.models
    if not models.base_url:
        raise ProviderError(
            "models.provider = openai needs models.base_url, such as http://127.0.0.1:8080/v1",
            retryable=False,
        )
    return OpenAIModel(
        Endpoint(
            name="openai",
            base_url=api_base(models.base_url),
            section="models",
            key_env=models.api_key_env,
            headers=bearer,
            timeout_s=models.timeout_ms / 1000,
            clock=services.clock,
            env=services.env,
            transport=transport,
            stored=stored_key(services.bridge, "openai", models.base_url),
        )
    )


def api_base(url: str) -> str:
    """The base of the API: a bare address gets ``/v1``, a full path loses its last part."""
    parts = urlsplit(url.strip())
    path = re.sub(r"/(chat/completions|completions|embeddings|models)/*$", "", parts.path)
    path = path.rstrip("/") or "/v1"
    return urlunsplit(parts._replace(path=path, fragment=""))


def bearer(key: str | None) -> dict[str, str]:
    """The header of a key, if there is one."""
    return {"authorization": f"Bearer {key}"} if key else {}


def body(request: CompletionRequest, model: str) -> dict[str, Any]:
    """The wire form of a request."""
    system = [{"role": "system", "content": request.system}] if request.system else []
    payload = {
        "model": model,
        "messages": [*system, *({"role": m.role, "content": m.content} for m in request.messages)],
        "stream": False,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "response_format": {"type": "json_object"} if request.json else None,
        "reasoning_effort": request.reasoning if request.reasoning in EFFORTS else None,
    }
    return {key: value for key, value in payload.items() if value is not None}


def without(payload: Mapping[str, Any], refused: set[str]) -> dict[str, Any]:
    """The payload without what the server refuses; the output bound has a newer name."""
    sent = {key: value for key, value in payload.items() if key not in refused}
    if "max_tokens" in refused and "max_tokens" in payload:
        sent["max_completion_tokens"] = payload["max_tokens"]
    return sent


def read(
    answer: Mapping[str, Any], request: CompletionRequest, model: str, name: str
) -> Completion:
    """The completion in an answer; raises `ProviderError` when there is no text in it."""
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict):
        fault = answer.get("error")
        said = fault.get("message") if isinstance(fault, dict) else fault
        raise ProviderError(
            f"{name} answered {request.stage} without choices" + (f": {said}" if said else "")
        )
    message = first.get("message")
    text = joined(message.get("content")) if isinstance(message, dict) else ""
    if not text.strip():
        raise ProviderError(f"{name} answered {request.stage} with an empty text{_why(first)}")
    named = answer.get("model")
    return Completion(
        text=text,
        model=named if isinstance(named, str) and named else model,
        usage=usage(answer.get("usage"), "prompt_tokens", "completion_tokens"),
    )


def joined(content: object) -> str:
    """A message's text; several text blocks are joined by line breaks (pi/L-04)."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [b.get("text") for b in blocks if isinstance(b, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def usage(value: object, read_key: str, written_key: str) -> Usage | None:
    """Token counts under a provider's names; None when it did not count."""
    if not isinstance(value, Mapping):
        return None
    counts = [value.get(key) for key in (read_key, written_key)]
    numbers = [
        n if isinstance(n, int) and not isinstance(n, bool) and n >= 0 else None for n in counts
    ]
    if all(number is None for number in numbers):
        return None
    return Usage(input_tokens=numbers[0] or 0, output_tokens=numbers[1] or 0)


def _why(choice: Mapping[str, Any]) -> str:
    message = choice.get("message")
    refusal = message.get("refusal") if isinstance(message, dict) else None
    if isinstance(refusal, str) and refusal:
        return ": it refused"
    if choice.get("finish_reason") == "length":
        return ": its tokens ran out before it began. Raise models.max_tokens or lower reasoning."
    return ""
