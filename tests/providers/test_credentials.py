from __future__ import annotations

import httpx

from hindsight_core.config.settings import Settings
from hindsight_core.providers.anthropic import anthropic_factory
from hindsight_core.providers.base import CompletionRequest, Message
from hindsight_core.providers.credentials import stored_key
from hindsight_core.services import Services

REQUEST = CompletionRequest(stage="recall/judge", messages=(Message("user", "ok?"),), model="m")


class Host:
    capabilities = frozenset({"credentials"})

    def __init__(self, key):
        self.key = key
        self.asked = []

    async def request(self, method, params):
        self.asked.append((method, params))
        return {"apiKey": self.key}


async def test_a_stored_key_is_asked_for_once_and_sent_to_its_owner():
    host, seen = Host("-".join(["stored", "key"])), []

    def answer(request):
        seen.append((request.url.host, request.headers.get("x-api-key")))
        usage = {"input_tokens": 1, "output_tokens": 1}
        content = [{"type": "text", "text": "fine"}]
        return httpx.Response(200, json={"content": content, "model": "m", "usage": usage})

    settings = Settings.model_validate({"models": {"provider": "anthropic"}})
    model = anthropic_factory(
        settings, Services(bridge=host), transport=httpx.MockTransport(answer)
    )
    await model.complete(REQUEST)
    await model.complete(REQUEST)
    await model.close()
    assert seen == [("api.anthropic.com", host.key)] * 2
    assert host.asked == [("host/credentials", {"provider": "anthropic"})]


def test_it_is_never_sent_to_an_address_of_a_configuration_file():
    host = Host("x")
    assert stored_key(host, "openai", "https://api.openai.com/v1") is not None
    for url in ("http://api.openai.com/v1", "https://api.openai.com.evil.example/v1", "http://a"):
        assert stored_key(host, "openai", url) is None
    assert stored_key(None, "openai", "https://api.openai.com/v1") is None
    assert host.asked == []
