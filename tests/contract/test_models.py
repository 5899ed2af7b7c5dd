"""The model of tests, and the one over HTTP, keep the rules of every model."""

from __future__ import annotations

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.errors import ProviderError
from hindsight_core.providers.builtin import ProviderPlugin
from hindsight_core.services import Services
from hindsight_core.testing import ModelContract, ModelServer, ScriptedModel


class TestScriptedModel(ModelContract):
    @pytest.fixture
    def model(self):
        return ScriptedModel({"*": "Port 8080."})

    @pytest.fixture
    def failing_model(self):
        return ScriptedModel({"*": ProviderError("the model is away; start it")})


@pytest.mark.usefixtures("loopback")
class TestOpenAiModel(ModelContract):
    @pytest.fixture
    async def model(self):
        with ModelServer({"*": "Port 8080."}) as server:
            model = openai(server.url)
            yield model
            await model.close()

    @pytest.fixture
    async def failing_model(self):
        with ModelServer({"*": {"status": 500}}) as server:
            model = openai(server.url)
            yield model
            await model.close()


def openai(url):
    factories = {}
    ProviderPlugin().hindsight_register_models(factories.__setitem__)
    settings = Settings.model_validate({"models": {"base_url": url, "model": "tiny"}})
    return factories["openai"](settings, Services())
