"""The built-in backends: two services over HTTP, and the chat model."""

from __future__ import annotations

import json

import httpx
import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.decision.text import TextBackend
from hindsight_core.errors import ConfigError, ProviderError
from hindsight_core.hookspecs import DecisionRequest
from hindsight_core.prompts import Prompts
from hindsight_core.providers.decisions import classifier_backend, typed_backend
from hindsight_core.services import Services
from hindsight_core.stages import Stages
from hindsight_core.testing.models import ScriptedModel

ASKS = {"inject": "Does it need memory?", "read:shop": "Is the shop meant?"}
STATE = DecisionRequest(tuple(ASKS), "which port?", None, "user: hello", ASKS)


class Server:
    """A decision service."""

    def __init__(self, reply: object, *, status: int = 200) -> None:
        self.reply, self.status = reply, status
        self.requests: list[tuple[str, dict, httpx.Headers]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        self.requests.append((request.url.path, body, request.headers))
        return httpx.Response(self.status, json=self.reply)


def backend(make, server, **decision):
    settings = Settings.model_validate(
        {"decision": {"base_url": "http://decide.test/v1", "model": "s1-small", **decision}}
    )
    return make(settings, Services(), transport=httpx.MockTransport(server))


@pytest.mark.spec("s1/S-DEC-13")
async def test_the_typed_surface_gives_probabilities():
    server = Server(
        {
            "answers": {
                "inject": {"type": "noul", "noul": 0.5},
                "read:shop": {"type": "noul", "noul": 0.49},
            }
        }
    )
    made = backend(typed_backend, server)
    assert await made.answer(STATE, ASKS) == {"inject": True, "read:shop": False}
    [(path, body, _)] = server.requests
    assert path == "/v1"
    assert body["model"] == "s1-small"
    assert body["questions"]["inject"] == {"type": "noul", "instructions": ASKS["inject"]}
    assert body["state"] == {
        "lastUserMessage": "which port?",
        "taskState": None,
        "activity": "user: hello",
    }
    assert await made.answer(STATE, {}) == {}
    await made.close()


@pytest.mark.spec("s1/S-DEC-13")
async def test_the_threshold_and_the_key_are_settings(monkeypatch):
    monkeypatch.setenv("DECIDE_KEY", "k" * 12)
    server = Server({"answers": {"inject": {"type": "noul", "noul": 0.8}, "read:shop": True}})
    made = backend(typed_backend, server, threshold=0.9, api_key_env="DECIDE_KEY")
    assert await made.answer(STATE, ASKS) == {"inject": False, "read:shop": True}
    assert server.requests[0][2]["authorization"] == f"Bearer {'k' * 12}"


@pytest.mark.spec("s1/S-DEC-13")
async def test_the_classifier_has_predicates():
    rows = [{"id": "inject", "value": True}, {"id": "read:shop", "probability": 0.2}]
    server = Server({"decisions": rows})
    made = backend(classifier_backend, server)
    assert await made.answer(STATE, ASKS) == {"inject": True, "read:shop": False}
    [(path, body, _)] = server.requests
    assert path == "/v1/decisions"
    assert body["predicates"][1] == {"id": "read:shop", "predicate": ASKS["read:shop"]}


@pytest.mark.spec("s1/S-DEC-3", "s1/S-DEC-13")
@pytest.mark.parametrize("make", [typed_backend, classifier_backend])
async def test_what_is_no_answer_is_left_out_and_an_error_is_raised(make):
    rows = [{"id": "inject", "value": "yes"}, "x", {"probability": 1}]
    odd = {"answers": {"inject": {"type": "noul", "noul": "high"}}, "decisions": rows}
    assert await backend(make, Server(odd)).answer(STATE, ASKS) == {}
    for server in (Server({"sorry": 1}), Server({}, status=503)):
        with pytest.raises(ProviderError):
            await backend(make, server).answer(STATE, ASKS)


@pytest.mark.parametrize("make", [typed_backend, classifier_backend])
def test_a_service_without_an_address_is_not_set_up(make):
    with pytest.raises(ConfigError, match=r"decision\.base_url"):
        make(Settings(), Services())


@pytest.mark.spec("s1/S-DEC-13")
@pytest.mark.parametrize(
    "reply",
    [
        {"answers": {"inject": True, "read:shop": False}},
        '```json\n{"answers": {"inject": true, "read:shop": false}}\n```',
    ],
)
async def test_the_chat_model_is_asked_for_a_table(reply):
    model = ScriptedModel({"decision/route": reply})
    made = TextBackend(Stages(prompts=Prompts(), models=model))
    assert await made.answer(STATE, ASKS) == {"inject": True, "read:shop": False}
    [request] = model.requests
    assert request.system.endswith("(hindsight stage: decision/route)")
    assert "read:shop: Is the shop meant?" in request.messages[0].content


async def test_an_answer_without_bools_is_asked_for_once_more_and_then_fails():
    model = ScriptedModel(
        {"decision/route": {"answers": {"inject": "yes"}}, "decision/route+repair": "no idea"}
    )
    made = TextBackend(Stages(prompts=Prompts(), models=model))
    with pytest.raises(ProviderError):
        await made.answer(STATE, ASKS)
    assert model.stages == ["decision/route", "decision/route+repair"]


async def test_without_a_model_it_is_not_set_up():
    made = TextBackend(Stages(prompts=Prompts(), models=ScriptedModel(configured=False)))
    with pytest.raises(ConfigError, match="no model"):
        await made.answer(STATE, ASKS)
