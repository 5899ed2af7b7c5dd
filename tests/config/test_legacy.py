"""The four plugins' own files and options."""

from __future__ import annotations

import pytest

from hindsight_core.config import schema
from hindsight_core.config.legacy import TABLE
from hindsight_core.config.profiles import PROFILES


def test_every_line_of_the_table_is_mapped_or_answered():
    for rows in TABLE.values():
        for row in rows:
            assert bool(row.new) != bool(row.advice), row.key
            if row.new and row.convert is None and not row.new.startswith("recall.min_scores."):
                assert row.new in schema.known_keys(), row


@pytest.mark.spec("pi/C-02", "br/BR-55")
def test_every_mapped_key_of_pi_hindsight_arrives(world):
    for row in TABLE["pi-hindsight"]:
        if not row.new or row.key in ("bankId", "factCategories", "debug"):
            continue
        value, expected = _sample(row.new)
        world.pi_project({row.key: value})
        loaded = world.load()
        section, _, key = row.new.partition(".")
        assert getattr(getattr(loaded.settings, section), key) == expected, row.key
        assert loaded.warnings == ()
        world.pi_project({})
        if row.env:
            world.env = {row.env: str(value) if not isinstance(value, list) else ",".join(value)}
            loaded = world.load()
            assert getattr(getattr(loaded.settings, section), key) == expected, row.env
            assert loaded.origins[row.new] == f"environment {row.env}"
            world.env = {}


def _sample(path: str) -> tuple[object, object]:
    kind, default = schema.kind(path), schema.default(path)
    if kind == "bool":
        return not default, not default
    if kind == "int":
        return 4321, 4321
    if kind == "float":
        return 0.25, 0.25
    if kind == "names":
        return ["a/b", "c/d"], ("a/b", "c/d")
    words = {"recall.budget": "high", "recall.effort": "thorough", "recall.filter": "off"}
    text = words.get(path, "http://bank:1")
    return text, text


@pytest.mark.spec("s1/S-CFG-5")
def test_pi_categories(world):
    own = {"key": "style", "clause": "taste in code", "state": "on"}
    world.pi_project({"factCategories": {"code": "on", "custom": [own, {"key": " "}]}})
    memorize = world.load().settings.memorize
    assert memorize.categories == {"code": "on"}
    assert [category.key for category in memorize.custom_categories] == ["style"]


@pytest.mark.parametrize("key", ["queuePath", "dispatchLogPath", "logPath", "deltaDir"])
def test_files_that_no_longer_exist_are_answered(world, key):
    file = world.pi_project({key: "somewhere"})
    (warning,) = world.load().warnings
    assert warning.startswith(f"{file}: {key} has no effect: ")
    assert "home folder" in warning


@pytest.mark.spec("s1/S-CFG-1")
def test_json_with_comments_and_its_place(world):
    world.write(
        world.home / ".pi/agent/hindsight.jsonc",
        '{ // mine\n "recall": {"maxTokens": 900, "topK": 5,}, /* and */ }',
    )
    loaded = world.load()
    assert (loaded.settings.recall.max_tokens, loaded.settings.recall.top_k) == (900, 5)
    world.pi_global({"recall": {"maxTokens": 700}})
    loaded = world.load()
    assert (loaded.settings.recall.max_tokens, loaded.settings.recall.top_k) == (700, 8)
    assert "hindsight.jsonc is not read" in loaded.warnings[0]
    world.pi_project({"recall": {"maxTokens": 600}})
    assert world.load().settings.recall.max_tokens == 600
    world.write(world.project / ".omp/hindsight.json", {"recall": {"maxTokens": 500}})
    assert world.load(host="pi").settings.recall.max_tokens == 600
    assert world.load(host="omp").settings.recall.max_tokens == 500


@pytest.mark.spec("s1/S-CFG-2")
def test_a_wrong_value_of_s1_keeps_the_profiles(world):
    world.pi_global({"profile": "s1enhanced", "recall": {"maxTokens": -5, "budget": "huge"}})
    loaded = world.load()
    assert (loaded.settings.recall.max_tokens, loaded.settings.recall.budget) == (800, "mid")
    assert len(loaded.warnings) == 2


@pytest.mark.spec("s1/S-CFG-3")
@pytest.mark.parametrize(
    ("entries", "bank"),
    [
        ([{"id": "life", "role": "life"}, {"id": "code"}], "code"),
        ([{"id": "old", "enabled": False}, {"id": "code", "role": "coding"}], "code"),
        ([{"id": "ref", "access": "read"}, {"id": "code"}], "code"),
        ([{"id": "life", "role": "life"}], None),
        ([], None),
    ],
)
def test_the_list_of_banks_declares_the_projects_own(world, entries, bank):
    world.pi_project({"profile": "s1enhanced", "banks": entries})
    found = world.load().bank
    assert (found.id if found.declared else None) == bank


@pytest.mark.spec("s1/S-CFG-3")
def test_s1_defaults_and_keys(world):
    world.pi_project(
        {
            "profile": "s1enhanced",
            "hindsight": {"baseUrl": "http://bank:1", "apiKey": {"source": "env", "name": "KEY"}},
            "banks": [
                {"id": "code", "role": "coding"},
                {"id": "life", "role": "life", "access": "read", "retain": {"mode": "decision"}},
                {"id": "old", "role": "life", "mission": {"retainStructuredChunkSize": 40}},
            ],
            "banksFallback": ["code"],
            "decision": {"fallback": {"recallBanks": ["life"]}, "maxContextChars": 9000},
            "retain": {"async": False, "beforeEnqueue": {"command": ["check"], "timeoutMs": 9}},
            "recall": {"bankMode": "decision", "mode": "decision"},
            "notifications": {"recall": True},
        }
    )
    loaded = world.load()
    assert loaded.warnings == ()
    # The first bank that coding is written to is the project's.
    assert (loaded.bank.id, loaded.bank.declared) == ("code", True)
    settings = loaded.settings
    assert (settings.hindsight.token_env, settings.hindsight.timeout_ms) == ("KEY", 30000)
    entries = settings.bank.entries
    assert [entry.writes for entry in entries] == ["always", "decision", "explicit-only"]
    assert entries[1].access == "read" and entries[2].retain_structured_chunk_size == 40
    decision = settings.decision
    assert (decision.fallback_banks, decision.fallback_recall_banks) == (("code",), ("life",))
    assert (decision.inject_gate, decision.bank_gate) == (True, True)
    assert (decision.max_context_chars, decision.cache_ttl_ms) == (9000, 60000)
    assert settings.retain.run_async is False and settings.retain.before_enqueue == ("check",)
    assert settings.retain.before_enqueue_timeout_ms == 9
    recall = settings.recall
    assert (recall.mode, recall.types, recall.cache_ttl_ms) == ("plain", ("observation",), 60000)
    assert (recall.user_max_tokens, recall.context_turns, recall.max_query_chars) == (400, 2, 800)
    assert settings.status.notify_recall and not settings.status.notify_retain


@pytest.mark.spec("s1/S-CFG-5")
def test_the_word_global_is_understood(world):
    world.pi_global(
        {
            "banks": {"project": {"bankId": "auto"}, "global": {"enabled": True, "bankId": "me"}},
            "recall": {"globalQueryPreamble": "who am I"},
            "retainMission": "what matters",
        }
    )
    loaded = world.load()
    assert (loaded.settings.bank.user_id, loaded.bank.declared) == ("me", True)
    assert loaded.settings.recall.user_query_preamble == "who am I"
    assert loaded.settings.memorize.retain_mission == "what matters"


@pytest.mark.spec("oc/O-CFG-1")
def test_opencode_options_beat_the_environment(world):
    world.env = {"HINDSIGHT_API_URL": "http://env:1", "HINDSIGHT_DEBUG": "on"}
    loaded = world.load(host="opencode")
    assert (loaded.settings.hindsight.base_url, loaded.settings.log.level) == (
        "http://env:1",
        "debug",
    )
    options = {"hindsightApiUrl": "http://option:1", "hindsightApiToken": "t" * 12}
    loaded = world.load(host="opencode", host_options=options)
    assert loaded.settings.hindsight.base_url == "http://option:1"
    assert str(loaded.settings.hindsight.token) == "**********"
    world.env["HINDSIGHT_DEBUG"] = "off"
    assert world.load(host="opencode").settings.log.level == "warning"
    world.env["HINDSIGHT_DEBUG"] = "1"
    silent = world.load(host="opencode", host_options={"debug": False})
    assert silent.settings.log.level == "warning"


@pytest.mark.spec("am/A-CFG-1")
def test_active_memory_files_in_their_order(world):
    world.write(
        world.home / ".pi/agent/active-memory.json", {"recall": {"topK": 7, "everyTurns": 3}}
    )
    world.write(world.project / ".pi/active-memory.json", {"recall": {"topK": 9}})
    (world.project / ".pi/active-memory.config.ts").write_text("export default {}")
    loaded = world.load()
    assert (loaded.settings.steer.top_k, loaded.settings.steer.every_turns) == (9, 3)
    assert "is not run: copy its values" in loaded.warnings[0]
    assert world.load(trusted=False).settings.steer.top_k == 7


@pytest.mark.spec("am/A-CFG-1")
def test_who_has_its_file_and_names_no_profile_finds_what_the_plugin_did(world):
    file = world.home / ".pi/agent/active-memory.json"
    world.write(file, {"recall": {"everyTurns": 3}})
    settings = world.load().settings
    assert (settings.profile, settings.recall.mode) == ("active-memory", "off")
    assert settings.steer.enabled and settings.capture.enabled and settings.tools.memory
    assert settings.steer.every_turns == 3
    world.own('profile = "pi-hindsight"\n')
    settings = world.load().settings
    assert (settings.profile, settings.steer.enabled) == ("pi-hindsight", False)
    world.own("")
    world.write(world.home / ".pi/agent/hindsight.json", {"baseUrl": "http://bank:1"})
    assert world.load().settings.profile == "pi-hindsight"


@pytest.mark.spec("am/A-CFG-3")
@pytest.mark.parametrize("own", [{"profile": "active-memory"}, {}])
def test_active_memory_defaults(world, own):
    world.write(world.home / ".pi/agent/active-memory.json", own)
    settings = world.load().settings
    capture, investigation, steer = settings.capture, settings.investigation, settings.steer
    assert (capture.enabled, capture.min_characters, capture.context_characters) == (True, 8, 12000)
    assert (capture.confidence_threshold, capture.similarity_threshold) == (0.72, 0.82)
    assert (investigation.minimum_elapsed_ms, investigation.maximum_confidence) == (60000, 0.75)
    assert (investigation.priority, investigation.similarity_threshold) == (0.55, 0.78)
    life = settings.lifecycle
    assert (life.initial_confidence, life.deletion_threshold, life.initial_decay_rate) == (
        0.5,
        0.1,
        0.28,
    )
    assert (life.max_feedback_per_session, life.history_limit) == (2, 50)
    assert (steer.top_k, steer.cooldown_ms, steer.per_memory_cooldown_ms) == (10, 15000, 1800000)
    assert (steer.min_vector_score, steer.minimum_memory_age_minutes) == (0.28, 30)
    assert (
        settings.consolidation.similarity_threshold,
        settings.consolidation.maximum_proposals,
    ) == (
        0.5,
        10,
    )
    assert settings.security.max_fact_characters == 1200


@pytest.mark.spec("am/A-CFG-5", "am/A-CFG-2")
def test_older_active_memory_keys(world):
    place = world.home / ".pi/agent/active-memory.json"
    older = {
        "database": {"provider": "qdrant", "url": "http://q:1"},
        "embedding": {"provider": "ollama", "model": "nomic", "baseUrl": "http://o:1"},
        "fastModel": {"candidates": ["a/b", "c/d"]},
        "forgetting": {"minimumConfidenceToKeep": 0.2},
        "feedback": {"usefulDelta": 0.3, "maxFeedbackPerMemoryPerSession": 4},
    }
    world.write(place, older)
    loaded = world.load()
    assert loaded.warnings == ()
    settings = loaded.settings
    assert (loaded.bank.backend, settings.qdrant.url) == ("qdrant", "http://q:1")
    found = settings.embeddings
    assert (found.provider, found.model, found.base_url) == ("ollama", "nomic", "http://o:1")
    assert (settings.models.recall, settings.models.retain_chain) == ("a/b", ("c/d",))
    life = settings.lifecycle
    assert (life.deletion_threshold, life.useful_delta, life.max_feedback_per_session) == (
        0.2,
        0.3,
        4,
    )
    newer = {"memoryLifecycle": {"enabled": True}, "providers": {"rag": {"adapter": "json"}}}
    world.write(place, {**older, **newer})
    loaded = world.load()
    assert loaded.warnings == ()
    assert (loaded.settings.lifecycle.useful_delta, loaded.bank.backend) == (0.1, "sqlite")


@pytest.mark.spec("am/A-CFG-2")
def test_one_prompt_leaves_the_others(world):
    world.write(
        world.home / ".pi/agent/active-memory.json",
        {"prompts": {"query": "mine", "tools": {"memorySearch": {"guidelines": ["a", "b"]}}}},
    )
    world.own('[prompts]\n"recall/judge" = "ours"\n[prompts.memorize]\nextract = "theirs"\n')
    assert world.load().settings.prompts == {
        "steer/query": "mine",
        "tools/memory_search.guidelines": "a\nb",
        "recall/judge": "ours",
        "memorize/extract": "theirs",
    }


def test_the_system_line_of_all_its_calls_and_the_line_about_feedback(world):
    prompts = {"jsonOnly": "JSON, please.", "steerFeedback": "[{{feedbackToken}}]"}
    world.write(world.home / ".pi/agent/active-memory.json", {"prompts": prompts})
    found = world.load().settings.prompts
    assert found.pop("steer/feedback") == "[{{feedbackToken}}]"
    assert set(found.values()) == {"JSON, please."}
    assert {"steer/query.system", "steer/judge.system", "capture/extraction.system"} <= set(found)
    assert len(found) == 9


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_holds_only_valid_values(world, name):
    world.own(f'profile = "{name}"\n')
    loaded = world.load()
    assert loaded.warnings == ()
    assert loaded.settings.profile == name
    changed = [key for key, origin in loaded.origins.items() if origin == f"profile {name}"]
    assert bool(changed) is (name != "pi-hindsight")


def test_an_unknown_profile(world):
    world.own('profile = "s1enhnced"\n[recall]\nmax_lines = 3\n')
    loaded = world.load()
    assert "did you mean s1enhanced?" in loaded.warnings[0]
    assert loaded.settings.recall.mode == "judged" and loaded.settings.recall.max_lines == 3


def test_a_profile_of_a_plugin_and_the_layers_over_it(world):
    world.own('profile = "terse"\n[recall]\nmax_queries = 2\n')
    profiles = {"terse": {"recall": {"max_lines": 2, "max_queries": 1}, "bank": {"id": "x"}}}
    loaded = world.load(profiles=profiles)
    assert (loaded.settings.recall.max_lines, loaded.settings.recall.max_queries) == (2, 2)
    assert not loaded.bank.declared and "cannot choose bank.id" in loaded.warnings[0]
