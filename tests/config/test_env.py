"""Variables: each plugin's own rule for its names, one rule for ours."""

from __future__ import annotations

import pytest

from hindsight_core.config import schema


@pytest.mark.spec("pi/C-03")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[("1", True), (" TRUE ", True), ("Yes", True), ("on", True)],
        *[("0", False), ("off", False), ("", False), ("maybe", False), ("2", False)],
    ],
)
def test_a_plugins_boolean(world, text, expected):
    world.env = {"HINDSIGHT_FACT_INVALIDATION": text, "HINDSIGHT_AUTO_RECALL": text}
    settings = world.load().settings
    assert settings.memorize.invalidate is expected
    assert settings.recall.enabled is expected


@pytest.mark.spec("pi/C-03")
def test_a_plugins_numbers_and_lists(world):
    world.env = {
        "HINDSIGHT_RECALL_MAX_LINES": "12 lines",
        "HINDSIGHT_RECALL_MAX_QUERIES": "many",
        "HINDSIGHT_CHUNK_INPUT_FRACTION": ".25x",
        "HINDSIGHT_RECALL_MODEL_CHAIN": " a/b ,, c/d",
    }
    loaded = world.load()
    assert loaded.settings.recall.max_lines == 12
    assert loaded.settings.recall.max_queries == 8
    assert loaded.settings.memorize.chunk_input_fraction == 0.25
    assert loaded.settings.models.recall_chain == ("a/b", "c/d")
    assert any("HINDSIGHT_RECALL_MAX_QUERIES" in warning for warning in loaded.warnings)


@pytest.mark.spec("pi/C-03")
def test_an_unset_variable_leaves_the_default(world):
    assert world.load().settings.recall.enabled is True


@pytest.mark.spec("pi/C-04")
def test_effort_and_filter_of_the_environment(world):
    world.env = {
        "HINDSIGHT_RECALL_EFFORT": "max",
        "HINDSIGHT_RECALL_FILTER": "strict",
        "HINDSIGHT_BASE_URL": "http://bank:9///",
    }
    settings = world.load().settings
    assert (settings.recall.effort, settings.recall.filter) == ("normal", "model")
    assert settings.hindsight.base_url == "http://bank:9"


def test_task_bounds_are_effective_bounds(world):
    world.env = {
        "HINDSIGHT_TASK_HISTORY_TURNS": "1",
        "HINDSIGHT_TASK_TITLE_TAIL": "-4",
        "HINDSIGHT_DEEP_RECALL_QUERIES": "0",
    }
    tasks = world.load().settings.tasks
    assert (tasks.history_turns, tasks.title_tail, tasks.deep_queries) == (2, 0, 1)


@pytest.mark.spec("pi/C-06")
def test_auto_off_switches_the_contours_off_and_nothing_else(world):
    world.own_project('[bank]\nid = "team"\n[recall]\nenabled = true\n')
    world.env = {"HINDSIGHT_MEM_MEMORIZE__ENABLED": "true"}
    assert world.load().settings.recall.enabled
    world.env |= {"HINDSIGHT_AUTO_OFF": "1"}
    loaded = world.load()
    assert not loaded.settings.recall.enabled
    assert not loaded.settings.memorize.enabled
    assert loaded.origins["recall.enabled"] == "kill switch HINDSIGHT_AUTO_OFF"
    assert (loaded.bank.id, loaded.bank.declared, loaded.off) == ("team", True, None)
    assert loaded.settings.enabled


@pytest.mark.parametrize(("text", "off"), [("1", True), ("0", False), ("", False), ("oui", True)])
def test_mem_off(world, text, off):
    world.env = {"HINDSIGHT_MEM_OFF": text, "HINDSIGHT_MEM_ENABLED": "true"}
    loaded = world.load()
    assert (loaded.off is not None) is off
    assert loaded.settings.enabled is not off


@pytest.mark.spec("br/BR-55")
def test_every_plain_key_can_be_set_by_its_variable(world):
    wanted = {}
    for path in schema.known_keys():
        if path in ("bank.id", "profile", "agent_mode"):
            continue
        sample = _sample(path)
        if sample is not None:
            world.env[f"HINDSIGHT_MEM_{path.replace('.', '__').upper()}"] = sample[0]
            wanted[path] = sample[1]
    loaded = world.load()
    assert loaded.warnings == ()
    for path, value in wanted.items():
        section, _, key = path.rpartition(".")
        holder = getattr(loaded.settings, section) if section else loaded.settings
        assert getattr(holder, key) == value, path
        assert loaded.origins[path].startswith("environment HINDSIGHT_MEM_")
    assert len(wanted) > 180


def _sample(path: str) -> tuple[str, object] | None:
    """A value that differs from the default, as text and as it should arrive."""
    kind, default = schema.kind(path), schema.default(path)
    if kind == "bool":
        return ("off", False) if default else ("yes", True)
    if kind in ("int", "float"):
        for value in (3000, 0.9, 0.3, 0.06):
            try:
                if value != default:
                    return str(value), schema.check(path, value)
            except ValueError:
                continue
    if kind == "names" and path not in ("memorize.mode", "tools.further"):
        return ("a b", ("a", "b")) if path == "models.command" else (" a, b,", ("a", "b"))
    if kind == "text":
        choices = _choices(path)
        text = next((word for word in choices if word != default), "http://other")
        return None if schema.is_secret(path) else (text, text)
    return None


def _choices(path: str) -> tuple[str, ...]:
    from typing import Literal, get_args, get_origin

    annotation = schema.field(path).annotation
    return get_args(annotation) if get_origin(annotation) is Literal else ()


@pytest.mark.spec("br/BR-55")
def test_empty_zero_and_false_are_values(world):
    world.own('[recall]\nenabled = true\nmax_queries = 9\n[memorize]\nmode = ["transcript"]\n')
    world.env = {
        "HINDSIGHT_MEM_RECALL__ENABLED": "",
        "HINDSIGHT_MEM_TASKS__TITLE_TAIL": "0",
        "HINDSIGHT_MEM_RECALL__TYPES": "",
        "HINDSIGHT_MEM_RECALL__MAX_QUERIES": "0",
    }
    loaded = world.load()
    assert loaded.settings.recall.enabled is False
    assert loaded.settings.tasks.title_tail == 0
    assert loaded.settings.recall.types == ()
    assert loaded.settings.recall.max_queries == 9
    assert loaded.warnings == (
        "environment HINDSIGHT_MEM_RECALL__MAX_QUERIES = 0: "
        "expected greater than or equal to 1; 9 stays "
        f"({world.memory / 'config.toml'})",
    )


@pytest.mark.spec("br/BR-55")
def test_a_misspelt_variable(world):
    world.env = {
        "HINDSIGHT_MEM_RECALL__MAX_LINE": "3",
        "HINDSIGHT_MEM_RECALL_MAX_LINES": "3",
        "HINDSIGHT_MEM_SOMETHING_ELSE": "x",
    }
    assert world.load().warnings == (
        "environment HINDSIGHT_MEM_RECALL_MAX_LINES: unknown key; "
        "did you mean HINDSIGHT_MEM_RECALL__MAX_LINES?",
        "environment HINDSIGHT_MEM_RECALL__MAX_LINE: unknown key; "
        "did you mean HINDSIGHT_MEM_RECALL__MAX_LINES?",
    )


def test_prompts_and_parts_of_tables(world):
    world.env = {
        "HINDSIGHT_MEM_PROMPTS__RECALL__JUDGE": "{{ request }}",
        "HINDSIGHT_MEM_RECALL__MIN_SCORES__SEMANTIC": "0.4",
        "HINDSIGHT_MEM_MEMORIZE__CATEGORIES": '{"code": "on"}',
    }
    settings = world.load().settings
    assert settings.prompts == {"recall/judge": "{{ request }}"}
    assert settings.recall.min_scores == {"semantic": 0.4}
    assert settings.memorize.categories == {"code": "on"}


@pytest.mark.spec("s1/S-CFG-4")
def test_variables_that_beat_files(world):
    world.pi_project({"enabled": True, "recall": {"minScores": {"semantic": 0.1, "final": 0.2}}})
    world.env = {
        "PI_HINDSIGHT_ENABLED": "false",
        "PI_HINDSIGHT_PROJECT_BANK_ID": "mine",
        "PI_HINDSIGHT_USER_BANK_ID": "me",
        "PI_HINDSIGHT_MIN_SEMANTIC": "0.65",
        "PI_HINDSIGHT_MIN_RERANKER": "high",
    }
    loaded = world.load()
    assert loaded.settings.enabled is False
    assert loaded.bank.id == "mine"
    assert loaded.settings.bank.user_id == "me"
    assert loaded.settings.recall.min_scores == {"semantic": 0.65, "final": 0.2}


@pytest.mark.spec("s1/S-CFG-4")
def test_the_token_comes_before_the_key_and_blank_is_unset(world):
    key, token = "k" * 9, "t" * 9
    world.env = {"HINDSIGHT_API_KEY": key, "HINDSIGHT_API_TOKEN": token, "HINDSIGHT_BASE_URL": " "}
    loaded = world.load()
    found = loaded.settings.hindsight
    assert found.token is not None and found.token.get_secret_value() == token
    assert loaded.origins["hindsight.base_url"] == "default"
    world.env = {"HINDSIGHT_API_KEY": key, "HINDSIGHT_API_TOKEN": ""}
    found = world.load().settings.hindsight
    assert found.token is not None and found.token.get_secret_value() == key


def test_a_command_line_in_the_environment_is_split_as_one_types_it():
    assert schema.parse_text("models.command", "claude -p 'a, b'") == ["claude", "-p", "a, b"]
    assert schema.parse_text("models.command", '["claude", "-p"]') == ["claude", "-p"]
    assert schema.parse_text("models.recall_chain", "a/b, c/d") == ["a/b", "c/d"]
