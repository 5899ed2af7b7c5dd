"""Settings and chains around scripted models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.providers.base import CompletionRequest, Message
from hindsight_core.providers.chain import ModelChain
from hindsight_core.services import Services
from hindsight_core.testing.clock import FakeClock
from hindsight_core.testing.models import ScriptedModel


class FakeBridge:
    """A host that answers from a table and records what it was asked."""

    def __init__(self, answers: dict[str, Any], capabilities: tuple[str, ...] = ("complete",)):
        self.capabilities = frozenset(capabilities)
        self.answers = answers
        self.requests: list[tuple[str, dict[str, Any]]] = []

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.requests.append((method, params))
        answer = self.answers[method]
        if callable(answer):
            answer = answer(params)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def models_asked(self) -> list[str | None]:
        return [p["model"] for method, p in self.requests if method == "host/complete"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def make_bridge() -> type[FakeBridge]:
    return FakeBridge


@pytest.fixture
def request_() -> CompletionRequest:
    return CompletionRequest(
        stage="recall/judge",
        messages=(Message("user", "which facts?"),),
        system="You judge. (hindsight stage: recall/judge)",
    )


@pytest.fixture
def make_chain(clock: FakeClock) -> Callable[..., ModelChain]:
    """Makes a chain over one provider named ``fake``, or over a bridge."""

    def make(
        scripted: ScriptedModel | None = None,
        /,
        *,
        bridge: FakeBridge | None = None,
        budget: dict[str, Any] | None = None,
        meter: Any = None,
        factories: dict[str, Any] | None = None,
        **models: Any,
    ) -> ModelChain:
        from hindsight_core.providers.builtin import ProviderPlugin

        registered: dict[str, Any] = {}
        ProviderPlugin().hindsight_register_models(registered.__setitem__)
        registered["fake"] = lambda settings, services: scripted
        registered |= factories or {}
        models.setdefault("provider", "host" if bridge else "fake")
        settings = Settings.model_validate({"models": models, "budget": budget or {}})
        services = Services(clock=clock, bridge=bridge)
        return ModelChain(settings, services, registered, meter=meter, sleep=clock.sleep)

    return make
