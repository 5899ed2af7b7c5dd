"""The adapter of spawned hooks keeps the rules of every host, and those of its own."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hindsight_host_generic import hosts
from hindsight_host_generic.adapter import AgentAdapter
from hindsight_host_generic.agents import AGENTS

from hindsight_core.host_hooks import HookHost, HookSession
from hindsight_core.testing.hosts import FakeEngine, HostContract, block

BLOCK = '<hindsight-memory kind="recall">\n- gateway 8443\n</hindsight-memory>'
ASK = "Which port does the gateway use?"


class ClaudeDriver:
    """Claude Code: its hooks, and the session file that it writes."""

    def __init__(self, file: Path, memo: dict[str, Any] | None = None) -> None:
        self.engine = FakeEngine()
        self.file = file
        self.memo = {} if memo is None else memo
        self.kept: list[str] = []
        self.ended = False
        self.records = 0
        self._adapt("s-1")

    def _adapt(self, session_id: str, parent: str | None = None) -> None:
        self.session_id = session_id
        self.adapter = AgentAdapter(
            self.engine,
            AGENTS["claude-code"],
            HookSession(session_id, str(self.file.parent), parent),
            self.memo,
        )

    async def start(self, session_id: str) -> None:
        self._adapt(session_id)
        await self.hook("SessionStart", source="startup")

    async def ask(self, prompt: str) -> list[str]:
        reply = await self.hook("UserPromptSubmit", prompt=prompt)
        if added := reply.get("hookSpecificOutput"):
            self.kept.append(added["additionalContext"])
        self.write("user", prompt)
        return list(self.kept)

    async def again(self) -> list[str]:
        return list(self.kept)

    async def done(self) -> None:
        self.write("assistant", "Done.")
        await self.hook("Stop", last_assistant_message="Done.")

    async def give_up(self, prompt: str) -> None:
        asking = asyncio.create_task(self.ask(prompt))
        while "turn/start" not in [method for method, _ in self.engine.calls]:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking

    async def compact(self) -> None:
        await self.hook("PreCompact", trigger="manual")
        self.kept.clear()
        await self.hook("SessionStart", source="compact")

    async def quit(self) -> None:
        await self.hook("SessionEnd", reason="other")

    async def hook(self, event: str, **payload: object) -> dict[str, Any]:
        given = {"transcript_path": str(self.file), "hook_event_name": event, **payload}
        actions = list(await self.adapter.event(event, given))
        await self.adapter.settle()
        self.ended = {"type": "ended"} in actions
        return next(a["reply"] for a in actions if a["type"] == "reply")

    def write(self, role: str, text: str, **more: object) -> None:
        record = {
            "type": role,
            "uuid": f"u{self.records + 1}",
            "parentUuid": f"u{self.records}" if self.records else None,
            "message": {"role": role, "content": text},
            **more,
        }
        self.records += 1
        with self.file.open("a") as file:
            file.write(json.dumps(record) + "\n")

    def calls(self, method: str) -> list[dict[str, Any]]:
        return [params for name, params in self.engine.calls if name == method]


@pytest.fixture
def driver(tmp_path: Path) -> ClaudeDriver:
    (tmp_path / "shop").mkdir()
    return ClaudeDriver(tmp_path / "shop" / "session.jsonl")


class TestClaudeCode(HostContract):
    settings = (".claude/settings.json", '{\n  "theme": "dark"\n}\n')

    @pytest.fixture
    def host(self) -> object:
        return hosts.claude_code


def test_every_agent_answers_hooks():
    for host in (hosts.claude_code, hosts.codex, hosts.gemini, hosts.cursor, hosts.copilot):
        assert isinstance(host, HookHost)
    assert hosts.mcp.session_of("Stop", {"session_id": "s"}) is None


async def test_blocks_stay_in_the_agents_transcript(driver):
    await driver.start("s-1")
    (opened,) = driver.calls("initialize")
    assert opened["capabilities"] == {"blocks": "persist", "spawned": True}
    assert driver.adapter.opening == opened


@pytest.mark.spec("br/BR-67")
async def test_the_first_folder_is_the_sessions_in_every_later_process(driver):
    await driver.start("s-1")
    engine = FakeEngine()
    walked = HookSession("s-1", "/elsewhere/analysis")
    later = AgentAdapter(engine, AGENTS["claude-code"], walked, driver.memo)
    await later.event("UserPromptSubmit", {"prompt": ASK})
    assert engine.calls[0][1]["cwd"] == str(driver.file.parent)


async def test_a_session_that_this_process_meets_in_its_middle_is_opened(driver):
    driver.engine.blocks = [block(BLOCK)]
    assert await driver.ask(ASK) == [BLOCK]
    assert [name for name, _ in driver.engine.calls[:2]] == ["initialize", "session/start"]
    assert driver.calls("session/start") == [{"reason": "reload"}]


async def test_the_path_is_told_once_and_then_what_is_new(driver):
    await driver.start("s-1")
    await driver.ask(ASK)
    await driver.done()
    await driver.ask("And the scheduler?")
    await driver.done()
    first, second = driver.calls("turn/end")
    assert [e["id"] for e in first["entries"]] == ["u1", "u2"]
    assert (first.get("since"), second["since"]) == (None, "u2")
    assert [e["id"] for e in second["entries"]] == ["u3", "u4"]


async def test_last_words_that_come_late_into_the_file_are_waited_for(driver):
    await driver.start("s-1")
    await driver.ask(ASK)

    async def late() -> None:
        await asyncio.sleep(0.02)
        driver.write("assistant", "It is 8443.")

    writing = asyncio.create_task(late())
    await driver.hook("Stop", last_assistant_message="It is 8443.")
    await writing
    (end,) = driver.calls("turn/end")
    assert [e["id"] for e in end["entries"]] == ["u1", "u2"]


@pytest.mark.spec("br/BR-40")
async def test_a_compaction_that_the_agent_does_not_tell_is_noticed(driver):
    await driver.start("s-1")
    for number in range(3):
        await driver.ask(f"fact {number}")
        await driver.done()
    driver.file.write_text("")
    driver.write("user", "Where were we?")
    await driver.hook("UserPromptSubmit", prompt="fact 7")
    names = [name for name, _ in driver.engine.calls]
    assert names.index("compact/before") < names.index("compact/after")
    assert driver.calls("compact/before") == [{"reason": "unknown"}]


async def test_a_compaction_that_the_agent_told_is_told_once(driver):
    await driver.start("s-1")
    await driver.ask(ASK)
    await driver.done()
    await driver.hook("PreCompact", trigger="auto")
    driver.write("system", "", subtype="compact_boundary", parentUuid=None)
    await driver.ask("Go on.")
    assert driver.calls("compact/before") == [{"reason": "threshold"}]
    assert driver.calls("compact/after") == [{}]


@pytest.mark.spec("br/BR-25")
async def test_a_sub_agent_recalls_and_writes_nothing(driver):
    driver._adapt("a7", parent="s-1")
    driver.engine.blocks = [block(BLOCK)]
    assert await driver.ask(ASK) == [BLOCK]
    await driver.done()
    await driver.hook("PreCompact", trigger="auto")
    await driver.hook("SubagentStop")
    assert driver.ended
    (opened,) = driver.calls("initialize")
    assert opened["session"] == {"id": "a7", "parentId": "s-1"}
    assert {name for name, _ in driver.engine.calls} == {"initialize", "turn/start"}


@pytest.mark.spec("br/BR-01", "br/BR-35")
async def test_a_trouble_is_told_once_a_session_whatever_the_process(driver):
    await driver.start("s-1")
    driver.adapter.tell("warning", "The bank is away.")
    driver.adapter.tell("warning", "The bank is away.")
    told = await driver.hook("UserPromptSubmit", prompt=ASK)
    assert told["systemMessage"] == "Memory: The bank is away."
    assert await driver.hook("UserPromptSubmit", prompt="And now?") == {}

    later = ClaudeDriver(driver.file, json.loads(json.dumps(driver.memo)))
    later.adapter.tell("warning", "The bank is away.")
    assert await later.hook("UserPromptSubmit", prompt="And now?") == {}


@pytest.mark.spec("br/BR-35")
async def test_memory_that_is_off_says_so_once_and_a_dormant_one_nothing(driver):
    driver.engine.state = "off"
    told = await driver.hook("SessionStart", source="startup")
    assert told == {"systemMessage": "Memory: Memory is off: because"}
    assert await driver.hook("UserPromptSubmit", prompt=ASK) == {}

    dormant = ClaudeDriver(driver.file.with_name("other.jsonl"))
    dormant.engine.state = "dormant"
    assert await dormant.hook("SessionStart", source="startup") == {}


@pytest.mark.spec("br/BR-73")
async def test_a_head_that_was_not_read_is_told(driver, monkeypatch):
    with driver.file.open("w") as file:
        wide = {"type": "user", "message": {"role": "user", "content": "x" * 400_000}}
        for number in range(12):
            file.write(json.dumps({**wide, "uuid": f"w{number}", "parentUuid": None}) + "\n")
    driver.write("assistant", "The new region is eu-north-1.")
    told = await driver.hook("Stop", last_assistant_message="The new region is eu-north-1.")
    (end,) = driver.calls("turn/end")
    assert end["entries"][-1]["parts"][0]["text"] == "The new region is eu-north-1."
    told = told or await driver.hook("UserPromptSubmit", prompt=ASK)
    assert "were not read" in told["systemMessage"]


async def test_without_a_file_the_hooks_own_words_are_the_turn():
    engine, memo = FakeEngine(), {}
    where = HookSession("c-1", "/shop")
    adapter = AgentAdapter(engine, AGENTS["codex"], where, memo)

    async def turn(prompt: str, reply: str) -> None:
        await adapter.event("UserPromptSubmit", {"prompt": prompt, "transcript_path": None})
        await adapter.event("Stop", {"last_assistant_message": reply, "transcript_path": None})
        await adapter.settle()

    await turn("We use pnpm.", "Noted.")
    await turn("And Node 22.", "Noted.")
    first, second = (params for name, params in engine.calls if name == "turn/end")
    words = [part["text"] for e in (*first["entries"], *second["entries"]) for part in e["parts"]]
    assert words == ["We use pnpm.", "Noted.", "And Node 22.", "Noted."]
    assert second["since"] == first["entries"][-1]["id"]
    ids = [e["id"] for e in (*first["entries"], *second["entries"])]
    assert len(set(ids)) == 4


@pytest.mark.spec("br/BR-26")
async def test_a_transcript_of_an_unknown_form_gives_way_to_the_hooks_words(tmp_path):
    file = tmp_path / "rollout.jsonl"
    file.write_text('{"of": "tomorrow"}\n' * 5)
    engine = FakeEngine()
    adapter = AgentAdapter(engine, AGENTS["codex"], HookSession("c-1", str(tmp_path)), {})
    await adapter.event(
        "UserPromptSubmit", {"prompt": "We use pnpm.", "transcript_path": str(file)}
    )
    ended = {"last_assistant_message": "Noted.", "transcript_path": str(file)}
    await adapter.event("Stop", ended)
    await adapter.settle()
    assert engine.said("turn/end") == ["We use pnpm."]


async def test_an_engine_that_lost_the_path_gets_all_of_it(driver):
    await driver.start("s-1")
    await driver.ask(ASK)
    await driver.done()
    answered = driver.engine.call

    async def lost(method, params):
        result = await answered(method, params)
        since = method == "turn/end" and "since" in params
        return {"outcome": "skipped", "reason": "resync"} if since else result

    driver.engine.call = lost
    await driver.ask("And the scheduler?")
    await driver.done()
    last = driver.calls("turn/end")[-1]
    assert [e["id"] for e in last["entries"]] == ["u1", "u2", "u3", "u4"]
    assert "since" not in last


async def test_geminis_prompt_comes_without_what_hooks_glued_to_it():
    engine = FakeEngine()
    adapter = AgentAdapter(engine, AGENTS["gemini"], HookSession("g-1", "/shop"), {})
    glued = "<hook_context>&lt;hindsight-memory&gt;old</hook_context>\n\nWhich port?"
    await adapter.event("BeforeAgent", {"prompt": glued})
    assert next(p["prompt"] for n, p in engine.calls if n == "turn/start") == "Which port?"
