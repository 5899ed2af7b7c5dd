"""The order of places, and what a wrong value does."""

from __future__ import annotations

import pytest

from hindsight_core.config import schema


@pytest.mark.spec("pi/C-01", "br/BR-55")
def test_later_places_win_key_by_key(world):
    # (2) profile, (3) plugin's variable, (4) own file, (5) project, (6) host, (7) agent,
    # (8) PI_HINDSIGHT, (9) HINDSIGHT_MEM, each setting one key more than the next one.
    keys = ["max_lines", "max_queries", "top_k", "max_tokens", "context_tokens", "child_max_lines"]
    world.env = {f"HINDSIGHT_RECALL_{key.upper()}": "3" for key in keys[:2]}
    world.own("[recall]\n" + "\n".join(f"{key} = 4" for key in keys))
    world.own_project("[recall]\n" + "\n".join(f"{key} = 5" for key in keys[1:]))
    loaded = world.load(
        agent="build",
        host_options={
            "recall": dict.fromkeys(keys[2:], 6),
            "agents": {"build": {"recall": dict.fromkeys(keys[3:], 7)}},
        },
        overrides={"recall": {"child_max_lines": 9}},
    )
    world.env |= {"HINDSIGHT_MEM_RECALL__CONTEXT_TOKENS": "8"}
    after = world.load(
        agent="build",
        host_options={
            "recall": dict.fromkeys(keys[2:], 6),
            "agents": {"build": {"recall": dict.fromkeys(keys[3:], 7)}},
        },
        overrides={"recall": {"child_max_lines": 9}},
    )
    assert [getattr(loaded.settings.recall, key) for key in keys] == [4, 5, 6, 7, 7, 9]
    assert after.settings.recall.context_tokens == 8
    assert loaded.warnings == ()


@pytest.mark.spec("pi/C-01")
def test_a_whole_table_is_replaced(world):
    world.pi_global({"factCategories": {"code": "on", "goal": "off"}})
    world.pi_project({"factCategories": {"domain": "ban"}})
    assert world.load().settings.memorize.categories == {"domain": "ban"}


@pytest.mark.spec("pi/C-01")
def test_config_merge_case_one(world):
    world.pi_global({"namespace": "global", "memoryLanguage": "ru"})
    world.pi_project({"namespace": "project"})
    settings = world.load().settings
    assert settings.hindsight.namespace == "project"
    assert settings.memorize.language == "ru"
    assert settings.hindsight.base_url == "http://localhost:8888"


@pytest.mark.spec("pi/C-02")
def test_unknown_keys_are_left_out_and_named_with_the_nearest(world):
    file = world.own('[recall]\nmax_lnies = 3\nmaxLines = 4\n[modles]\nprovider = "none"\n')
    loaded = world.load()
    assert loaded.settings.recall.max_lines == 4
    assert (
        f"{file}: unknown key recall.max_lnies; did you mean recall.max_lines?" in loaded.warnings
    )
    assert f"{file}: unknown key modles; did you mean models?" in loaded.warnings
    assert not hasattr(loaded.settings.recall, "max_lnies")


@pytest.mark.spec("pi/C-02")
@pytest.mark.parametrize("text", ["{", "[1]", "\x00", '{"a": 1} trailing', "nul"])
def test_a_broken_file_is_an_empty_layer(world, text):
    file = world.pi_global(text)
    world.own("[recall]\nmax_lines = 3\n")
    loaded = world.load()
    assert loaded.settings.recall.max_lines == 3
    assert len(loaded.warnings) == 1 and str(file) in loaded.warnings[0]


@pytest.mark.spec("pi/C-02")
def test_active_cannot_come_from_a_file(world):
    world.pi_project({"active": True})
    loaded = world.load()
    assert not loaded.bank.declared
    assert any("active has no effect" in warning for warning in loaded.warnings)


@pytest.mark.spec("pi/D-20", "pi/C-04", "br/BR-55", "s1/S-CFG-2")
@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        ("recallMaxLines", "8", "recall.max_lines"),
        ("recallEffort", "max", "recall.effort"),
        ("debug", "false", "log.level"),
        ("namespace", None, "hindsight.namespace"),
        ("countsRefreshMs", 0, "status.refresh_ms"),
        ("baseUrl", "localhost", "hindsight.base_url"),
        ("autoRecall", 1, "recall.enabled"),
        ("chunkInputFraction", 3, "memorize.chunk_input_fraction"),
    ],
)
def test_a_wrong_value_leaves_the_layer_below(world, key, value, path):
    good = {
        "recall.max_lines": "[recall]\nmax_lines = 5\n",
        "recall.effort": '[recall]\neffort = "light"\n',
        "log.level": '[log]\nlevel = "error"\n',
        "hindsight.namespace": '[hindsight]\nnamespace = "mine"\n',
        "status.refresh_ms": "[status]\nrefresh_ms = 5000\n",
        "hindsight.base_url": '[hindsight]\nbase_url = "http://mine"\n',
        "recall.enabled": "[recall]\nenabled = false\n",
        "memorize.chunk_input_fraction": "[memorize]\nchunk_input_fraction = 0.4\n",
    }[path]
    world.own(good)
    section, _, name = path.partition(".")
    before = getattr(getattr(world.load().settings, section), name)
    file = world.pi_project({key: value, "recallMaxQueries": 2})
    loaded = world.load()
    assert getattr(getattr(loaded.settings, section), name) == before
    assert loaded.settings.recall.max_queries == 2, "the rest of the file still counts"
    assert str(file) in loaded.warnings[0] and key in loaded.warnings[0]
    assert "expected" in loaded.warnings[0]


@pytest.mark.spec("pi/D-20", "pi/C-04")
def test_a_slash_at_the_end_of_the_address_goes(world):
    world.pi_project({"baseUrl": "http://bank:9/"})
    assert world.load().settings.hindsight.base_url == "http://bank:9"


@pytest.mark.spec("pi/C-04")
def test_chains_are_lists_and_the_user_bank_is_trimmed_text(world):
    world.pi_global({"recallModelChain": "a/b, c/d,", "userBankId": " 7 ", "retainModelChain": []})
    settings = world.load().settings
    assert settings.models.recall_chain == ("a/b", "c/d")
    assert settings.models.retain_chain == ()
    assert settings.bank.user_id == "7"


@pytest.mark.spec("pi/C-05")
def test_zero_survives_the_merge(world):
    assert world.load().settings.review.auto_approve_days == 7
    world.env = {"HINDSIGHT_REVIEW_AUTO_APPROVE_DAYS": "3"}
    assert world.load().settings.review.auto_approve_days == 3
    world.pi_global({"reviewAutoApproveDays": 5})
    world.pi_project({"reviewAutoApproveDays": 2})
    assert world.load().settings.review.auto_approve_days == 2
    world.pi_project({"reviewAutoApproveDays": 0})
    assert world.load().settings.review.auto_approve_days == 0


@pytest.mark.spec("pi/C-07")
def test_the_removed_recall_operation_is_nowhere(world):
    world.env = {"HINDSIGHT_RECALL_OPERATION": "reflect"}
    world.pi_global({"recallOperation": "reflect"})
    loaded = world.load()
    assert not [key for key in loaded.origins if "operation" in key]
    assert loaded.settings.recall.reflect is False
    assert sum("has no effect" in warning for warning in loaded.warnings) == 2


@pytest.mark.spec("pi/C-15")
def test_what_is_loaded_does_not_change_until_it_is_loaded_again(world):
    world.own("[recall]\nmax_lines = 3\n")
    loaded = world.load()
    world.own("[recall]\nmax_lines = 4\n")
    with pytest.raises(ValueError, match="frozen"):
        loaded.settings.recall.max_lines = 9
    assert (loaded.settings.recall.max_lines, world.load().settings.recall.max_lines) == (3, 4)


@pytest.mark.spec("br/BR-55")
def test_every_key_has_an_origin_and_is_reachable_from_a_file(world):
    table: dict[str, list[str]] = {}
    for path in schema.known_keys():
        section, _, key = path.rpartition(".")
        kind = schema.kind(path)
        if kind == "json" or path in ("profile", "bank.id"):
            continue
        table.setdefault(section, []).append(f"{key} = {_sample(path)}")
    text = "\n".join(table.pop("")) + "\n"
    text += "".join(f"[{name}]\n" + "\n".join(lines) + "\n" for name, lines in table.items())
    file = world.own(text)
    loaded = world.load()
    assert loaded.warnings == ()
    unset = [key for key, origin in loaded.origins.items() if origin != str(file)]
    assert {schema.kind(key) for key in unset} <= {"json", "text"}
    assert set(loaded.origins) == set(schema.known_keys())


def _sample(path: str) -> str:
    """The default as TOML, or some value where that is nothing."""
    import json

    value = schema.default(path)
    if isinstance(value, (bool, int, float, str)):
        return json.dumps(value)
    if isinstance(value, tuple):
        return json.dumps(list(value))
    return {"int": "7", "float": "0.5"}.get(schema.kind(path), '"http://x"')


def test_origins_name_the_place(world):
    file = world.own_project("[recall]\nmax_lines = 3\n")
    world.env = {"HINDSIGHT_MEM_RECALL__EFFORT": "light", "HINDSIGHT_RECALL_BUDGET": "low"}
    origins = world.load(host_options={"tasks": {"detect": False}}).origins
    assert origins["recall.max_lines"] == str(file)
    assert origins["recall.effort"] == "environment HINDSIGHT_MEM_RECALL__EFFORT"
    assert origins["recall.budget"] == "environment HINDSIGHT_RECALL_BUDGET"
    assert origins["tasks.detect"] == "host options"
    assert origins["recall.mode"] == "default"


@pytest.mark.spec("am/A-CFG-2")
def test_options_of_one_embedder_do_not_leak_into_another(world):
    world.own('[embeddings]\nprovider = "openai"\nbase_url = "https://a"\nmodel = "m"\n')
    world.own_project('[embeddings]\nprovider = "ollama"\nmodel = "n"\n')
    found = world.load().settings.embeddings
    assert (found.provider, found.base_url, found.model) == ("ollama", None, "n")


@pytest.mark.spec("am/A-CFG-2")
def test_separate_models_take_the_place_of_one_and_the_reverse(world):
    world.own(
        '[embeddings]\nprovider = "openai"\nbase_url = "https://a"\n'
        'api_key_env = "K"\nmodel = "m"\n'
    )
    world.own_project('[embeddings]\nquery_model = "q"\ndocument_model = "d"\n')
    found = world.load().settings.embeddings
    assert (found.model, found.query_model, found.document_model) == (None, "q", "d")
    assert (found.base_url, found.api_key_env) == ("https://a", "K")
    back = world.load(host_options={"embeddings": {"model": "n"}}).settings.embeddings
    assert (back.model, back.query_model, back.document_model) == ("n", None, None)


@pytest.mark.spec("am/A-CFG-4")
def test_values_that_must_not_decrease(world):
    file = world.own("[lifecycle]\ninitial_confidence = 0.01\nuseful_delta = 0.2\n")
    loaded = world.load()
    assert loaded.settings.lifecycle.initial_confidence == 0.5
    assert loaded.settings.lifecycle.useful_delta == 0.2
    assert str(file) in loaded.warnings[0]
    assert "minimum_confidence <= initial_confidence" in loaded.warnings[0]


def test_a_wrong_item_of_a_table_is_left_out_alone(world):
    world.own('[memorize.categories]\ncode = "on"\ngoal = "maybe"\n')
    loaded = world.load()
    assert loaded.settings.memorize.categories == {"code": "on"}
    assert "memorize.categories.goal" in loaded.warnings[0]


def test_a_section_that_is_no_table(world):
    world.pi_global({"recall": 5})
    assert "recall: expected a table" in world.load().warnings[0]
