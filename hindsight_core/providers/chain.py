"""The model chain: asks the configured models in order until one answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from hindsight_core.budget import Budget, Meter, estimate_tokens
from hindsight_core.errors import BreakerOpen, ProviderError
from hindsight_core.providers.attempt import attempt
from hindsight_core.providers.breaker import Breaker
from hindsight_core.providers.call_log import log_call
from hindsight_core.providers.candidates import (
    Candidate,
    HostModels,
    candidates,
    choose,
    configured,
)

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.providers.base import Completion, CompletionRequest, Model, Purpose
    from hindsight_core.services import Services

    Factory = Callable[[Settings, Services], Model]

DEFAULT_WINDOW = 32_000
MAX_PARALLEL = 4
MAX_PARALLEL_WRITES = 3
HOST_MODELS_S = 60.0
HOST_MODELS_TIMEOUT_S = 3.0


class ModelChain:
    """Implements `hindsight_core.services.ModelAccess` (pi/L-01 to L-06).

    A candidate that raises, is silent for too long or answers with an empty text has failed, and
    the next one is asked; only a cancel stops the walk (pi/D-01). When all fail the last error
    is raised. At most four calls run at once, at most three of them for writes, so that a turn
    never queues behind a long memorize run.

    Args:
        settings: Effective settings.
        services: Passed to provider factories.
        factories: Registered model providers by name.
        meter: Counts calls; a private one by default.
        sleep: For tests.
    """

    def __init__(
        self,
        settings: Settings,
        services: Services,
        factories: Mapping[str, Factory],
        *,
        meter: Meter | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.meter = meter or Meter(clock=services.clock)
        self.budget = Budget(self.meter, settings.budget)
        self._settings = settings
        self._services = services
        self._factories = factories
        self._sleep = sleep
        self._choice = choose(settings, services.bridge)
        self._models: dict[str, Model] = {}
        self._breakers: dict[str, Breaker] = {}
        self._host: HostModels | None = None
        self._host_asked: datetime | None = None
        self._slots = asyncio.Semaphore(MAX_PARALLEL)
        self._write_slots = asyncio.Semaphore(MAX_PARALLEL_WRITES)
        self._timeout_s = settings.models.timeout_ms / 1000

    @property
    def provider(self) -> str:
        """Name of the provider in use; ``none`` when there is no model."""
        return self._choice.provider

    @property
    def reason(self) -> str:
        """Why it is that provider, for ``doctor`` and the status."""
        return self._choice.reason

    def available(self, purpose: Purpose) -> bool:
        """Whether any model is configured for this purpose."""
        return self.provider != "none" and bool(self._candidates(purpose))

    def label(self, purpose: Purpose) -> str:
        """The candidates in order, for people (pi/L-02)."""
        if self.provider == "none":
            return "none"
        return " → ".join(candidate.label for candidate in self._candidates(purpose))

    def unknown(self, purpose: Purpose) -> tuple[str, ...]:
        """Configured ids that are skipped, because the host does not know them (pi/D-27)."""
        used = {candidate.label for candidate in self._candidates(purpose)}
        return tuple(i for i in configured(self._settings, purpose) if i not in used)

    async def complete(self, request: CompletionRequest, *, purpose: Purpose) -> Completion:
        """Ask the chain.

        A provider that asks for a pause gets it. Work on writes waits for it when it fits into
        ``models.timeout_ms``, and then walks the chain once more; a turn never waits (br/BR-58).

        Raises:
            ProviderError: All candidates failed, or there is none.
            BudgetExceeded: Automatic work has used up its budget.
        """
        await self.budget.check(session_id=request.session_id, tokens=_most(request))
        await self._ask_host()
        try:
            return await self._in_line(request, purpose)
        except ProviderError as error:
            wait = error.retry_after
            if purpose == "recall" or not wait or wait > self._timeout_s:
                raise
        await self._sleep(wait)
        return await self._in_line(request, purpose)

    async def context_window(self, purpose: Purpose) -> int:
        """Tokens that the first candidate can read; configured, asked of the host, or 32,000."""
        if self._settings.models.context_window:
            return self._settings.models.context_window
        await self._ask_host()
        first = next(iter(self._candidates(purpose)), None)
        if first is None or self._host is None or first.provider != "host":
            return DEFAULT_WINDOW
        return self._host.windows.get(first.label) or DEFAULT_WINDOW

    async def close(self) -> None:
        """Release the providers' connections and keep the last counts."""
        for model in self._models.values():
            close = getattr(model, "close", None)
            if close is not None:
                await close()
        self._models.clear()
        await self.meter.close()

    async def _in_line(self, request: CompletionRequest, purpose: Purpose) -> Completion:
        if purpose == "recall":
            return await self._walk(request, purpose)
        async with self._write_slots:
            return await self._walk(request, purpose)

    async def _walk(self, request: CompletionRequest, purpose: Purpose) -> Completion:
        if not self.available(purpose):
            raise ProviderError(
                f"no model for {request.stage}: {self.reason}. Set models.base_url and "
                "models.model, or run inside a host that offers its models.",
                retryable=False,
            )
        last: ProviderError | None = None
        waiting = self._candidates(purpose)
        while waiting:
            candidate = waiting.pop(0)
            try:
                return await self._guarded(candidate, request)
            except ProviderError as error:
                last = error
                self._services.logger.debug(
                    "model.fallback stage=%s failed=%s error=%s next=%s",
                    request.stage,
                    candidate.label,
                    error,
                    waiting[0].label if waiting else None,
                )
        assert last is not None  # noqa: S101 (an available chain has a candidate)
        raise last

    async def _guarded(self, candidate: Candidate, request: CompletionRequest) -> Completion:
        own = self._breaker(f"model {candidate.label}")
        shared = self._endpoint(candidate)
        shared.check()
        try:
            completion = await own.call(lambda: self._once(candidate, request))
        except BaseException as error:
            # Only a pause that the endpoint asked for closes it to the other models.
            shared.abandon()
            if isinstance(error, ProviderError) and not isinstance(error, BreakerOpen):
                own.pause(error.retry_after or 0, str(error))
                shared.pause(error.retry_after or 0, str(error))
            raise
        shared.success()
        return completion

    async def _once(self, candidate: Candidate, request: CompletionRequest) -> Completion:
        model = self._model(candidate.provider)
        asked = self._asked(candidate, request)
        try:
            async with self._slots:
                completion = await attempt(
                    model, asked, label=candidate.label, timeout_s=self._timeout_s
                )
        except ProviderError:
            self.meter.record(request.stage, session_id=request.session_id, failed=True)
            raise
        self._count(request, completion)
        log_call(self._services.logger, asked, completion, text=self._settings.log.include_text)
        return completion

    def _asked(self, candidate: Candidate, request: CompletionRequest) -> CompletionRequest:
        settings = self._settings.models
        bounds = [n for n in (request.max_tokens, settings.max_tokens) if n]
        return replace(
            request,
            model=candidate.model,
            max_tokens=min(bounds, default=None),
            reasoning=request.reasoning or settings.reasoning,
        )

    def _count(self, request: CompletionRequest, completion: Completion) -> None:
        usage = completion.usage
        if usage is not None:
            read, written = usage.input_tokens, usage.output_tokens
        else:
            read = _reads(request)
            written = estimate_tokens(completion.text)
        self.meter.record(
            request.stage,
            input_tokens=read,
            output_tokens=written,
            session_id=request.session_id,
            estimated=usage is None,
        )

    def _candidates(self, purpose: Purpose) -> list[Candidate]:
        return candidates(
            configured(self._settings, purpose),
            provider=self.provider,
            registered=self._factories.keys(),
            host=self._host,
        )

    def _model(self, provider: str) -> Model:
        if provider not in self._models:
            factory = self._factories.get(provider)
            if factory is None:
                known = ", ".join(sorted(self._factories)) or "none"
                raise ProviderError(
                    f"models.provider = {provider!r} is not registered (known: {known}). "
                    "Install the plugin that provides it, or change the setting.",
                    retryable=False,
                )
            try:
                self._models[provider] = factory(self._settings, self._services)
            except ProviderError:
                raise
            except Exception as error:
                raise ProviderError(
                    f"the provider {provider} could not be set up: {error}", retryable=False
                ) from error
        return self._models[provider]

    def _breaker(self, name: str) -> Breaker:
        if name not in self._breakers:
            self._breakers[name] = Breaker(name, clock=self._services.clock)
        return self._breakers[name]

    def _endpoint(self, candidate: Candidate) -> Breaker:
        """What all models of one URL share: only a pause that it asked for closes them all."""
        name = candidate.label if candidate.provider == "host" else candidate.provider
        return self._breaker(f"provider {name}")

    async def _ask_host(self) -> None:
        """Learn the host's models, at most once a minute; without an answer all ids count."""
        bridge, now = self._services.bridge, self._services.clock()
        recent = self._host_asked is not None and now - self._host_asked < timedelta(
            seconds=HOST_MODELS_S
        )
        if bridge is None or self.provider != "host" or recent:
            return
        self._host_asked = now
        from hindsight_core.providers.host import host_models

        try:
            async with asyncio.timeout(HOST_MODELS_TIMEOUT_S):
                self._host = await host_models(bridge)
        except (ProviderError, TimeoutError) as error:
            self._services.logger.debug("model.host_models error=%s", error)


def _reads(request: CompletionRequest) -> int:
    """About how many tokens a model reads of a request."""
    asked = [request.system or "", *(message.content for message in request.messages)]
    return sum(estimate_tokens(text) for text in asked)


def _most(request: CompletionRequest) -> int:
    """About how many tokens a call may cost."""
    return _reads(request) + (request.max_tokens or 0)
