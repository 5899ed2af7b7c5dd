"""The pi adapter keeps the rules of every host."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import pytest
from hindsight_host_pi import host as pi_host
from hindsight_host_pi.adapter import PiAdapter

from hindsight_core.errors import ConfigError
from hindsight_core.extension_host.branch import Branch
from hindsight_core.replay import Replay
from hindsight_core.testing.hosts import FakeEngine, HostContract, block, carry_out


class PiDriver:
    """Sends what pi's shim sends, over a session of its own."""

    def __init__(self) -> None:
        self.engine = FakeEngine()
        self.adapter = PiAdapter(self.engine)
        self.records: list[dict[str, Any]] = []
        self.request: list[dict[str, Any]] = []
        self.sent: str | None = None
        self.clock = 0

    async def start(self, session_id: str) -> None:
        session = {"id": session_id, "file": "/s.jsonl", "trusted": True, "ephemeral": False}
        payload = {"reason": "startup", "cwd": "/work", "session": session, **self._delta()}
        await self.adapter.event("session_start", payload)

    async def ask(self, prompt: str) -> list[str]:
        await self._prompt(prompt)
        return await self._context()

    async def again(self) -> list[str]:
        self._message("assistant", "calling a tool")
        return await self._context()

    async def done(self) -> None:
        self._message("assistant", "Done.")
        await self.adapter.event("agent_end", {"aborted": False, **self._delta()})

    async def give_up(self, prompt: str) -> None:
        await self._prompt(prompt)
        waiting = asyncio.create_task(self._context())
        await asyncio.sleep(0)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting

    async def compact(self) -> None:
        kept = self.records[-1]["id"] if self.records else "none"
        payload = {"firstKeptEntryId": kept, "reason": "manual", **self._delta()}
        await self.adapter.event("session_before_compact", payload)
        self._record("compaction", summary="What was said.")
        self.request = self.request[-1:]
        await self.adapter.event("session_compact", self._delta())

    async def quit(self) -> None:
        await self.adapter.event("session_shutdown", {"reason": "quit", **self._delta()})

    async def _prompt(self, prompt: str) -> None:
        await self.adapter.event("before_agent_start", {"prompt": prompt, **self._delta()})
        self._message("user", prompt)

    async def _context(self) -> list[str]:
        sent = [{"role": m["role"], "timestamp": m["timestamp"]} for m in self.request]
        actions = await self.adapter.event("context", {"messages": sent})
        inserts = [action for action in actions if action["type"] == "insert"]
        assert all(sent[action["after"]]["role"] == "user" for action in inserts)
        return [action["text"] for action in sorted(inserts, key=lambda a: a["after"])]

    def _message(self, role: str, text: str) -> None:
        self.clock += 1
        content = [{"type": "text", "text": text}]
        message = {"role": role, "content": content, "timestamp": self.clock}
        self.request.append(message)
        self._record("message", message=message)

    def _record(self, kind: str, **fields: object) -> None:
        parent = self.records[-1]["id"] if self.records else None
        record_id = f"r{len(self.records)}"
        self.records.append({"type": kind, "id": record_id, "parentId": parent, **fields})

    def _delta(self) -> dict[str, Any]:
        ids = [record["id"] for record in self.records]
        at = ids.index(self.sent) + 1 if self.sent in ids else 0
        part: dict[str, Any] = {"entries": self.records[at:]}
        if at:
            part["since"] = self.sent
        self.sent = ids[-1] if ids else None
        return part


class TestPi(HostContract):
    settings = (
        ".pi/agent/settings.json",
        '{\n  "theme": "dark",\n  "extensions": [\n    "/mine.ts"\n  ]\n}\n',
    )

    @pytest.fixture
    def driver(self) -> PiDriver:
        return PiDriver()

    @pytest.fixture
    def host(self) -> object:
        return pi_host

    @pytest.mark.spec("br/BR-47")
    def test_an_original_plugin_is_replaced_only_by_the_users_word(self, tmp_path: Any) -> None:
        request = self._request(tmp_path)
        file = tmp_path / "home" / ".pi/agent/settings.json"
        file.write_text(json.dumps({"packages": ["npm:pi-hindsight", "npm:other"]}))

        with pytest.raises(ConfigError, match="stored twice"):
            pi_host.install(request)
        fields = {name: getattr(request, name) for name in request.__dataclass_fields__}
        carry_out(pi_host.install(type(request)(**{**fields, "replace": True})))

        assert json.loads(file.read_text())["packages"] == ["npm:other"]

    @pytest.mark.spec("br/BR-19", "br/BR-52")
    async def test_at_the_cap_all_earlier_blocks_go_at_once(self, driver: PiDriver) -> None:
        driver.engine.live_tokens = 30
        await driver.start("s")
        texts = [letter * 80 for letter in "abc"]
        seen = []
        for text in texts:
            driver.engine.blocks = [block(text)]
            seen.append(await driver.ask(f"Tell me about {text[0]}."))
            await driver.done()

        assert seen == [[texts[0]], [texts[1]], [texts[2]]]
        assert driver.engine.forgotten == 2

    async def test_the_engine_is_told_only_what_is_new(self, driver: PiDriver) -> None:
        await driver.start("s")
        await driver.ask("One.")
        driver._record("model_change", model="x")
        await driver.done()
        await driver.ask("Two.")

        starts = [p for m, p in driver.engine.calls if m == "turn/start"]
        ends = [p for m, p in driver.engine.calls if m == "turn/end"]
        assert [entry["id"] for entry in ends[0]["entries"]] == ["r0", "r2"]
        assert starts[1] == {
            "turnId": starts[1]["turnId"],
            "prompt": "Two.",
            "entries": [],
            "since": "r2",
        }


@pytest.mark.spec("pi/D-25")
def test_a_branch_that_goes_back_forgets_what_it_left() -> None:
    def message(name: str, text: str) -> dict[str, Any]:
        content = [{"type": "text", "text": text}]
        return {"type": "message", "id": name, "message": {"role": "user", "content": content}}

    branch = Branch()
    branch.update({"entries": [message("a", "A"), message("b", "B")]})

    other = branch.update({"since": "a", "entries": [message("c", "C")]})
    lost = branch.update({"since": "b", "entries": [message("d", "D")]})

    assert other["since"] == "a"
    assert [(e["id"], e["parentId"]) for e in other["entries"]] == [("c", "a")]
    assert lost["entries"] == []
    assert lost["since"] not in ("a", "b", "c")


@pytest.mark.spec("pi/D-05")
def test_thinking_is_read() -> None:
    content = [{"type": "thinking", "thinking": "Port 8443."}, {"type": "text", "text": "Yes."}]
    record = {"type": "message", "id": "a", "message": {"role": "assistant", "content": content}}

    (entry,) = Branch().replace([record])

    assert entry["parts"][0] == {"type": "thinking", "text": "Port 8443."}


@pytest.mark.spec("br/BR-52")
def test_replayed_blocks_never_move() -> None:
    replay = Replay(cap_tokens=1_000)
    replay.add(("user", 1), "first")
    replay.add(("user", 3), "second")
    messages = [("user", 1), ("assistant", 2), ("user", 3), ("toolResult", 4), ("user", 5)]

    before = replay.places(messages[:3])
    after = replay.places(messages)

    assert before == after == [(0, "first"), (2, "second")]
    assert replay.places([("user", 9)]) == []


@pytest.mark.spec("s1/S-REC-8")
def test_a_block_stands_where_it_is_wanted() -> None:
    messages = [("user", 1), ("assistant", 2), ("user", 3)]
    for position, index in (("after", 2), ("append", 1), ("prepend", -1)):
        replay = Replay(cap_tokens=1_000)
        replay.add(("user", 3), "block", position=position)
        assert replay.places(messages) == [(index, "block")]
