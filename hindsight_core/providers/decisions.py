"""Decision services over HTTP: a typed judgement surface, and a classifier of predicates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from hindsight_core.errors import ConfigError, ProviderError
from hindsight_core.providers.http import Endpoint

if TYPE_CHECKING:
    import httpx

    from hindsight_core.config.settings import Settings
    from hindsight_core.hookspecs import DecisionRequest
    from hindsight_core.services import Services


S = TypeVar("S", bound="_Service")


class _Service:
    """What both have in common: the endpoint, and probabilities that become yes or no."""

    path = ""

    def __init__(self, endpoint: Endpoint, *, model: str | None, threshold: float) -> None:
        self._endpoint = endpoint
        self._model = model
        self._threshold = threshold

    async def answer(self, state: DecisionRequest, questions: Mapping[str, str]) -> dict[str, bool]:
        """One bool for each question that the service answered; raises `ProviderError`."""
        if not questions:
            return {}
        reply = await self._endpoint.post(self.path, self._payload(state, questions))
        found = self._answers(reply)
        return {name: value for name in found if (value := self._yes(found[name])) is not None}

    async def close(self) -> None:
        """Close the connection."""
        await self._endpoint.close()

    def _payload(self, state: DecisionRequest, questions: Mapping[str, str]) -> dict[str, Any]:
        raise NotImplementedError

    def _answers(self, reply: Mapping[str, Any]) -> Mapping[str, Any]:
        raise NotImplementedError

    def _yes(self, value: object) -> bool | None:
        """A bool as it is, a probability by the threshold; None for anything else."""
        if isinstance(value, bool):
            return value
        if isinstance(value, int | float) and 0 <= value <= 1:
            return value >= self._threshold
        return None

    def _with_model(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {"model": self._model, **payload} if self._model else payload


class TypedService(_Service):
    """A judgement surface (s1/S-DEC-13), asked at the address itself.

    ``{model, state, questions: {id: {type, instructions}}}``; answers are
    ``{answers: {id: {type, noul: p}}}``; a bare bool or number is read too.
    """

    def _payload(self, state: DecisionRequest, questions: Mapping[str, str]) -> dict[str, Any]:
        asked = {name: {"type": "noul", "instructions": text} for name, text in questions.items()}
        return self._with_model({"state": state_wire(state), "questions": asked})

    def _answers(self, reply: Mapping[str, Any]) -> Mapping[str, Any]:
        answers = reply.get("answers")
        if not isinstance(answers, Mapping):
            raise ProviderError(f"{self._endpoint.name} answered without `answers`")
        return {name: _typed(value) for name, value in answers.items()}


class Classifier(_Service):
    """``POST /decisions``: ``{input, predicates: [{id, predicate}]}`` (s1/S-DEC-13).

    Answers are ``{decisions: [{id, value | probability}]}``.
    """

    path = "/decisions"

    def _payload(self, state: DecisionRequest, questions: Mapping[str, str]) -> dict[str, Any]:
        predicates = [{"id": name, "predicate": text} for name, text in questions.items()]
        return self._with_model({"input": state_wire(state), "predicates": predicates})

    def _answers(self, reply: Mapping[str, Any]) -> Mapping[str, Any]:
        rows = reply.get("decisions")
        if not isinstance(rows, list):
            raise ProviderError(f"{self._endpoint.name} answered without `decisions`")
        found = {}
        for row in rows:
            if isinstance(row, Mapping) and isinstance(row.get("id"), str):
                found[row["id"]] = row.get("value", row.get("probability"))
        return found


def state_wire(state: DecisionRequest) -> dict[str, str | None]:
    """The state as a service reads it; an unknown task list is null, not empty."""
    return {
        "lastUserMessage": state.last_user_message,
        "taskState": state.task_state,
        "activity": state.activity,
    }


def typed_backend(
    settings: Settings, services: Services, *, transport: httpx.AsyncBaseTransport | None = None
) -> TypedService:
    """``decision.backends = ["typed"]``."""
    return _made(TypedService, "typed", settings, services, transport)


def classifier_backend(
    settings: Settings, services: Services, *, transport: httpx.AsyncBaseTransport | None = None
) -> Classifier:
    """``decision.backends = ["classifier"]``."""
    return _made(Classifier, "classifier", settings, services, transport)


def _made(
    kind: type[S],
    name: str,
    settings: Settings,
    services: Services,
    transport: httpx.AsyncBaseTransport | None,
) -> S:
    decision = settings.decision
    if decision.base_url is None:
        raise ConfigError(f"decision.base_url is not set; the backend {name!r} is a service there")
    endpoint = Endpoint(
        name=name,
        base_url=decision.base_url,
        section="decision",
        key_env=decision.api_key_env,
        headers=_bearer,
        timeout_s=decision.timeout_ms / 1000,
        clock=services.clock,
        env=services.env,
        transport=transport,
    )
    return kind(endpoint, model=decision.model, threshold=decision.threshold)


def _bearer(key: str | None) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def _typed(value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    kind = value.get("type")
    return value.get(kind) if isinstance(kind, str) and kind in value else value.get("noul")
