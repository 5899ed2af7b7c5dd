"""The embedder of tests, and the one over HTTP, keep the rules of every embedder."""

from __future__ import annotations

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.providers.embeddings import openai_embedder
from hindsight_core.services import Services
from hindsight_core.testing import EmbedderContract, HashEmbedder, ModelServer


class TestHashEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self):
        return HashEmbedder()


@pytest.mark.usefixtures("loopback")
class TestOpenAiEmbedder(EmbedderContract):
    @pytest.fixture
    async def embedder(self):
        with ModelServer({}) as server:
            section = {"base_url": server.url, "model": "hash", "dimensions": 64}
            embedder = openai_embedder(Settings.model_validate({"embeddings": section}), Services())
            yield embedder
            await embedder.close()
