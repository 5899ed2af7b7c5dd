"""The host program's own models, over the bridge (protocol.md, ``host/complete``)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import ProviderError
from hindsight_core.providers.base import Completion, CompletionRequest, Usage
from hindsight_core.providers.candidates import SESSION_MODEL, HostModels

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.services import BridgeAccess, Services


class HostModel:
    """Asks the host to run a completion with one of its models, or with the session's own."""

    def __init__(self, bridge: BridgeAccess) -> None:
        self._bridge = bridge

    async def complete(self, request: CompletionRequest) -> Completion:
        """One ``host/complete`` request; raises `ProviderError` when the host fails."""
        answer = await self._bridge.request("host/complete", parameters(request))
        text = answer.get("text") if isinstance(answer, dict) else None
        if not isinstance(text, str) or not text.strip():
            raise ProviderError(f"the host answered {request.stage} with an empty text")
        model = answer.get("model")
        return Completion(
            text=text,
            model=model if isinstance(model, str) else request.model or SESSION_MODEL,
            usage=_usage(answer.get("usage")),
        )


def host_factory(settings: Settings, services: Services) -> HostModel:
    """The factory registered as ``host``."""
    if services.bridge is None:
        raise ProviderError(
            "models.provider = host works only inside a host program. Set models.base_url for "
            "the command line.",
            retryable=False,
        )
    return HostModel(services.bridge)


def parameters(request: CompletionRequest) -> dict[str, Any]:
    """The wire form of a request; what is not set is left out, but for ``model``."""
    optional = {
        "system": request.system,
        "maxTokens": request.max_tokens,
        "temperature": request.temperature,
        "responseFormat": "json" if request.json else None,
        "reasoning": request.reasoning,
        "cache": request.cache or None,
        "sessionId": request.session_id,
    }
    return {
        "stage": request.stage,
        "model": request.model,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        **{key: value for key, value in optional.items() if value is not None},
    }


async def host_models(bridge: BridgeAccess) -> HostModels:
    """What the host offers; raises `ProviderError` when it does not say."""
    answer = await bridge.request("host/models", {})
    listed = answer.get("models") if isinstance(answer, dict) else None
    windows = {
        item["id"]: _positive(item.get("contextWindow"))
        for item in listed or []
        if isinstance(item, dict) and isinstance(item.get("id"), str)
    }
    current = answer.get("current") if isinstance(answer, dict) else None
    return HostModels(windows=windows, current=current if isinstance(current, str) else None)


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    read, written = _positive(value.get("inputTokens")), _positive(value.get("outputTokens"))
    if read is None and written is None:
        return None
    return Usage(input_tokens=read or 0, output_tokens=written or 0)


def _positive(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if math.isfinite(value) and value > 0 else None
