"""Two plugins written from the README: they keep the rules of their kind, installed and used."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from hindsight_core.plugins import load_hooks
from hindsight_core.testing import DecisionContract, EmbedderContract

DISTS = Path(__file__).parent / "dists"
SAMPLES = {
    "embedder-words": "hindsight_mem_embedder_words",
    "decision-rules": "hindsight_mem_decision_rules",
}
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_DEPS": "1"}
BANKS = {
    "inject": "Does this turn need memory?",
    "read:shop": "the web shop and its database",
    "read:house": "heating and garden",
}
SUITE = f"""
def test_both_are_used(new_memory):
    memory = new_memory(settings={{"embeddings": {{"provider": "words"}}}})
    assert memory.runtime.embedder.identity == "words/512-4"
    memory.remember("The database of the shop is PostgreSQL")
    assert "PostgreSQL" in memory.turn("which database does the shop use?").block.text
    asked = {BANKS!r}
    thanks = memory.decide("ok, thanks", questions=asked, backend="rules")
    assert thanks == dict.fromkeys(asked, False)
    shop = memory.decide("why this database?", questions=asked, backend="rules")
    assert shop == {{"inject": True, "read:shop": True, "read:house": False}}
"""


class TestEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, install):
        install("embedder-words")
        plugin = importlib.import_module(SAMPLES["embedder-words"])
        return plugin.WordsEmbedder(plugin.Words())


class TestDecisions(DecisionContract):
    @pytest.fixture
    def backend(self, install):
        install("decision-rules")
        return load_hooks(env={}).decision_backends["rules"].create(None, None)


@pytest.mark.parametrize(("folder", "package"), SAMPLES.items())
def test_each_is_under_sixty_lines(folder, package):
    text = (DISTS / folder / package / "__init__.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60


def test_both_are_installed_used_and_removed(environment, kit, tmp_path):
    def run(*command):
        path = f"{environment}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, **OFFLINE, "PATH": path},
            capture_output=True, text=True, timeout=55, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return " ".join(done.stdout.split())

    folders = [str(DISTS / folder) for folder in SAMPLES]
    installed = json.loads(run("hindsight-mem", "plugins", "install", "--json", *folders))
    assert sorted(row["provides"][0] for row in installed["plugins"]) == [
        "decision_backends: rules",
        "embedders: words",
    ]
    run("hindsight-mem", "config", "set", "embeddings.provider", "words")
    run("hindsight-mem", "config", "set", "plugins.embedder-words.dimensions", "300")
    assert "words/300-4: 300 dimensions" in run("hindsight-mem", "doctor", "--bank", "shop")
    (tmp_path / "test_used.py").write_text(SUITE, encoding="utf-8")
    run("python", "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", *kit,
        "-o", "asyncio_default_fixture_loop_scope=function", "test_used.py")  # fmt: skip
    gone = run("hindsight-mem", "plugins", "uninstall", "embedder-words", "decision-rules")
    assert gone == "uninstalled hindsight-mem-decision-rules, hindsight-mem-embedder-words"
