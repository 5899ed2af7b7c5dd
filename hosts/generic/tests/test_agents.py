"""The agents' tables: every reply in exactly the form that its program accepts."""

from __future__ import annotations

import json

import pytest
from hindsight_host_generic.agents import AGENTS, Event, Reply
from hindsight_host_generic.hooks import read_hook, session_of

BLOCK = '<hindsight-memory kind="recall">\n- gateway 8443\n</hindsight-memory>'
NESTED = ("claude-code", "codex", "gemini")


def event(agent: str, kind: str) -> Event:
    return next(e for e in AGENTS[agent].events if e.kind == kind)


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_every_agent_has_the_events_of_a_session(agent):
    kinds = [e.kind for e in agent.events]
    assert {"session_start", "prompt", "turn_end", "session_end"} <= set(kinds)
    assert len(kinds) == len(set(kinds))
    prompt = event(agent.name, "prompt")
    assert prompt.context
    assert agent.limits.turn_start_ms <= prompt.timeout_s * 1000 - 1_500
    assert agent.event(prompt.name.upper()) is prompt
    assert agent.event("NoSuchEvent") is None


@pytest.mark.parametrize("name", NESTED)
def test_context_and_notice_stand_in_the_shared_envelope(name):
    prompt = event(name, "prompt")
    reply = AGENTS[name].emit(prompt, Reply(context=BLOCK, notice="Memory: away"), {})
    assert reply == {
        "hookSpecificOutput": {"hookEventName": prompt.name, "additionalContext": BLOCK},
        "systemMessage": "Memory: away",
    }


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_an_event_without_room_for_it_says_nothing(agent):
    said = Reply(context=BLOCK, notice="Memory: away")
    end = agent.emit(event(agent.name, "session_end"), said, {})
    assert end == {}
    turn_end = agent.emit(event(agent.name, "turn_end"), said, {})
    assert set(turn_end) <= {"systemMessage"}


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
@pytest.mark.spec("br/BR-01")
def test_no_reply_is_ever_a_veto(agent):
    for each in agent.events:
        for reply in (Reply(), Reply(context=BLOCK, notice="x")):
            text = json.dumps(agent.emit(each, reply, {"prompt": "p", "transformedPrompt": "p"}))
            assert '"decision"' not in text
            assert '"stopReason"' not in text
            assert '"continue": false' not in text


def test_codex_knows_every_key_of_its_replies():
    known = {
        "session_start": {"hookSpecificOutput", "systemMessage"},
        "prompt": {"hookSpecificOutput", "systemMessage"},
        "turn_end": {"systemMessage"},
    }
    for each in AGENTS["codex"].events:
        reply = AGENTS["codex"].emit(each, Reply(context=BLOCK, notice="x"), {})
        assert set(reply) <= known.get(each.kind, set())


def test_codex_clamps_the_session_end():
    assert event("codex", "session_end").timeout_s == 3
    assert AGENTS["codex"].limits.session_end_ms <= 1_500


def test_gemini_is_not_asked_before_each_step():
    """PreCompress fires before every request, compressed or not."""
    assert AGENTS["gemini"].event("PreCompress") is None


def test_cursor_lets_every_prompt_through():
    prompt = event("cursor", "prompt")
    emit = AGENTS["cursor"].emit
    assert emit(prompt, Reply(), {}) == {"continue": True}
    assert emit(prompt, Reply(context=BLOCK), {}) == {"continue": True, "additional_context": BLOCK}


def test_copilot_gets_the_context_behind_its_own_prompt():
    prompt = event("copilot", "prompt")
    emit = AGENTS["copilot"].emit
    reply = emit(prompt, Reply(context=BLOCK), {"transformedPrompt": "Which port?"})
    assert reply == {"modifiedTransformedPrompt": f"Which port?\n\n{BLOCK}"}
    assert emit(prompt, Reply(context=BLOCK), {"prompt": 7}) == {}
    start = event("copilot", "session_start")
    assert emit(start, Reply(context=BLOCK), {}) == {"additionalContext": BLOCK}


def test_a_session_is_found_by_the_agents_own_id_and_folder():
    claude, cursor, copilot = AGENTS["claude-code"], AGENTS["cursor"], AGENTS["copilot"]
    prompt = event("claude-code", "prompt")
    found = session_of(claude, prompt, {"session_id": "s", "cwd": "/p"})
    assert (found.id, found.cwd, found.parent) == ("s", "/p", None)
    found = session_of(
        cursor, event("cursor", "prompt"), {"conversation_id": "c", "workspace_roots": ["/w"]}
    )
    assert (found.id, found.cwd) == ("c", "/w")
    found = session_of(copilot, event("copilot", "prompt"), {"sessionId": "x", "cwd": "/q"})
    assert (found.id, found.cwd) == ("x", "/q")


@pytest.mark.spec("br/BR-25")
def test_a_sub_agent_is_a_session_of_its_own_below_its_parent():
    claude = AGENTS["claude-code"]
    inside = {"session_id": "s", "agent_id": "a7", "cwd": "/p/.agents/wt-1"}
    found = session_of(claude, event("claude-code", "prompt"), inside)
    assert (found.id, found.parent) == ("a7", "s")
    end = event("claude-code", "child_end")
    assert session_of(claude, end, {"session_id": "s", "cwd": "/p"}) is None


@pytest.mark.parametrize(
    "payload",
    [{}, {"session_id": 7}, {"session_id": "  "}, {"session_id": None}, {"session_id": ["", 3]}],
)
def test_without_a_session_an_event_is_nothing_to_us(payload):
    assert session_of(AGENTS["codex"], event("codex", "prompt"), payload) is None


@pytest.mark.parametrize(
    ("kind", "payload", "why"),
    [
        ("session_start", {"source": "resume"}, "resume"),
        ("session_start", {"source": "clear"}, "new"),
        ("session_start", {"source": "compact"}, "compact"),
        ("session_start", {"source": "of tomorrow"}, "startup"),
        ("session_start", {}, "startup"),
        ("session_end", {"reason": "clear"}, "new"),
        ("session_end", {"reason": "resume"}, "resume"),
        ("session_end", {"reason": "prompt_input_exit"}, "quit"),
        ("session_end", {"reason": 3}, "quit"),
        ("compact_before", {"trigger": "auto"}, "threshold"),
        ("compact_before", {"trigger": "manual"}, "manual"),
        ("compact_before", {}, "unknown"),
    ],
)
def test_reasons_are_told_in_our_words(kind, payload, why):
    assert read_hook(AGENTS["claude-code"], event("claude-code", kind), payload).why == why
