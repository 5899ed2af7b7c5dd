"""What a decision is made from, and how much of it."""

from __future__ import annotations

import pytest

from hindsight_core.decision.state import activity, context_characters


@pytest.mark.spec("s1/S-CFG-8")
@pytest.mark.parametrize(
    ("window", "characters"),
    [
        (4000, 8000),
        (8192, 8192),
        (32000, 32000),
        (48000, 48000),
        (128000, 48000),
        (200000, 48000),
        (None, 8000),
    ],
)
def test_a_quarter_of_the_window_within_bounds(window, characters):
    assert context_characters(window) == characters


@pytest.mark.spec("s1/S-CFG-8", "s1/S-DEC-10")
@pytest.mark.parametrize(
    ("settings", "window", "most"),
    [({}, 8192, 8192), ({"max_context_chars": 300}, 8192, 300), ({}, None, 8000)],
)
async def test_only_the_activity_is_cut(kit, entry, yes, settings, window, most):
    said = [entry("assistant", f"step {number} " + "x" * 60) for number in range(400)]
    made = kit(yes, decision={"inject_gate": True, **settings}, more={"window": window})
    message = "m" * 100_000
    await made.recall(message, said)
    [state] = made.backends["main"].states
    assert state.last_user_message == message
    assert len(state.activity) <= most
    assert "step 399 " in state.activity
    assert "step 0 " not in state.activity


def test_the_newest_is_last_and_is_cut_at_its_beginning_when_it_is_too_long(entry):
    said = [entry("user", "first"), entry("tool", "noise"), entry("assistant", "second")]
    assert activity(said, limit=100) == "user: first\nassistant: second"
    assert activity(said, limit=20) == "assistant: second"
    assert activity(said, limit=7) == "second"
    assert activity([], limit=100) == ""


@pytest.mark.spec("s1/S-DEC-10")
def test_the_prompt_has_every_id_with_what_its_bank_is_for(new_memory):
    memory = new_memory(
        settings={
            "decision": {"inject_gate": True, "bank_gate": True},
            "bank": {"entries": [{"id": "life", "role": "life", "purpose": "food and sleep"}]},
        },
        replies={"decision/route": {"answers": {"inject": False}}},
    )
    memory.turn("what is for dinner?", before=["I am hungry", ("assistant", "Again?")])
    prompt = memory.model.asked("decision/route")[0].messages[0].content
    assert "--- last user message ---\nwhat is for dinner?\n" in prompt
    assert "--- open tasks ---\nunknown" in prompt
    assert "user: I am hungry\nassistant: Again?" in prompt
    lines = prompt.splitlines()
    assert any(line.startswith("inject: ") for line in lines)
    assert any(line.startswith("read:life: ") and "food and sleep" in line for line in lines)
    assert any(line.startswith("read:plugin-test: ") for line in lines)
