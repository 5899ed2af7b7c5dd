"""The blocks of agents."""

from __future__ import annotations

import pytest


@pytest.mark.spec("oc/O-CFG-2", "oc/O-CFG-3")
def test_an_agents_block_replaces_the_defaults(world):
    options = {
        "defaults": {"tags": ["a"], "autoRecall": False, "retainEveryNTurns": 5, "bankId": "p"},
        "agents": {
            "build": {"tags": ["b"], "bankId": "b", "retainMode": "last-turn", "async": False}
        },
    }
    loaded = world.load(agent="build", host="opencode", host_options=options)
    assert loaded.warnings == ()
    settings = loaded.settings
    assert (settings.retain.tags, settings.retain.document) == (("b",), "turns")
    assert (settings.recall.enabled, settings.memorize.every_turns) == (False, 5)
    assert (settings.retain.run_async, loaded.bank.id) == (False, "b")
    other = world.load(agent="plan", host="opencode", host_options=options)
    assert (other.settings.retain.tags, other.bank.id) == (("a",), "p")
    assert loaded.origins["retain.tags"] == "agent build in host options"


@pytest.mark.spec("oc/O-CFG-4")
@pytest.mark.parametrize(
    ("mode", "block", "active"),
    [
        ("opt-in", None, False),
        ("opt-in", {"bankId": "b"}, True),
        ("opt-in", {"bankId": "b", "enabled": False}, False),
        ("opt-out", None, True),
        ("opt-out", {"enabled": False}, False),
        ("opt-out", {"enabled": True}, True),
        ("all", None, True),
    ],
)
def test_which_agents_have_memory(world, mode, block, active):
    options = {"applyMode": mode, "defaults": {"bankId": "p"}, "profile": "opencode-hindsight"}
    options["agents"] = {"build": block} if block is not None else {}
    loaded = world.load(agent="build", host="opencode", host_options=options)
    assert (loaded.off is None and loaded.bank.declared) is active
    if not active:
        assert loaded.off or "no block" in loaded.bank.reason


@pytest.mark.spec("oc/O-CFG-5")
@pytest.mark.parametrize("value", [0, -2, float("nan"), "x"])
def test_a_wrong_number_of_turns(world, value):
    options = {"agents": {"build": {"retainEveryNTurns": value}}, "profile": "opencode-hindsight"}
    loaded = world.load(agent="build", host_options=options)
    assert loaded.settings.memorize.every_turns == 3
    assert len(loaded.warnings) == 1 and "retainEveryNTurns" in loaded.warnings[0]


@pytest.mark.spec("oc/O-CFG-5")
@pytest.mark.parametrize(
    ("value", "expected", "warnings"), [(None, None, 0), ("  ", "m", 1), (7, "m", 1), ("n", "n", 0)]
)
def test_the_mental_model_of_a_session_start(world, value, expected, warnings):
    options = {
        "defaults": {"sessionStartMentalModel": "m"},
        "agents": {"build": {"sessionStartMentalModel": value}},
    }
    loaded = world.load(agent="build", host_options=options)
    assert loaded.settings.recall.session_start_mental_model == expected
    assert len(loaded.warnings) == warnings


@pytest.mark.spec("oc/O-CFG-5")
def test_bank_ids_are_verbatim_and_enabled_is_no_default(world):
    options = {
        "profile": "opencode-hindsight",
        "defaults": {"enabled": True},
        "agents": {"build": {"bankId": " x "}, "plan": {"bankId": "  "}},
    }
    loaded = world.load(agent="build", host="opencode", host_options=options)
    assert loaded.bank.id == " x "
    assert any("defaults.enabled has no effect" in warning for warning in loaded.warnings)
    assert not world.load(agent="plan", host="opencode", host_options=options).bank.declared


@pytest.mark.spec("oc/O-CFG-7")
@pytest.mark.parametrize("key", ["autoRetainBank", "retainBanks", "autoRecallBanks", "recallBanks"])
def test_older_keys_are_explained(world, key):
    (warning,) = world.load(host_options={"agents": {"build": {key: ["b"]}}}).warnings
    assert "an agent has one bank: set its bankId" in warning


def test_agents_in_our_own_file(world):
    world.own(
        '[bank]\nid = "auto"\n[agents.review.recall]\nmax_lines = 2\n'
        "[agents.other.recall]\nmax_lnies = 3\n"
    )
    assert world.load(agent="review").settings.recall.max_lines == 2
    loaded = world.load()
    assert loaded.settings.recall.max_lines == 8
    assert "agent other" in loaded.warnings[0], "a mistake is seen in every agent's session"
