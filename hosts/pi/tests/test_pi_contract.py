"""The pi adapter keeps the rules of every host."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hindsight_host_pi import host as pi_host
from hindsight_host_pi.adapter import PiAdapter

from hindsight_core.errors import ConfigError
from hindsight_core.extension_host.branch import Branch
from hindsight_core.replay import Replay
from hindsight_core.testing.extension_driver import ExtensionDriver
from hindsight_core.testing.hosts import HostContract, block, carry_out


class TestPi(HostContract):
    settings = (
        ".pi/agent/settings.json",
        '{\n  "theme": "dark",\n  "extensions": [\n    "/mine.ts"\n  ]\n}\n',
    )

    @pytest.fixture
    def driver(self) -> ExtensionDriver:
        return ExtensionDriver(PiAdapter)

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
    async def test_at_the_cap_all_earlier_blocks_go_at_once(self, driver: ExtensionDriver) -> None:
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

    async def test_the_engine_is_told_only_what_is_new(self, driver: ExtensionDriver) -> None:
        await driver.start("s")
        await driver.ask("One.")
        driver.record("model_change", model="x")
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

    @pytest.mark.spec("am/A-FAIL")
    async def test_an_adapter_of_another_extension_is_answered_with_what_to_do(
        self, driver: ExtensionDriver
    ) -> None:
        started = await driver.adapter.event("session_start", {"session": {"id": "s"}})
        (offer,) = [action for action in started if action["type"] == "offer"]
        assert offer["event"] == "pi-active-memory:register-adapters"
        assert set(offer["methods"]) == {"registerRag", "registerEmbedding", "registerLlm"}

        given = {"method": "registerEmbedding", "id": "mine"}
        (told,) = await driver.adapter.event("offered", given)

        assert (told["type"], told["level"]) == ("notify", "warning")
        assert "'mine'" in told["text"]
        assert "plugins new embedder" in told["text"]

    @pytest.mark.spec("am/A-SCHED-5")
    async def test_a_steer_goes_behind_the_last_tool_result_and_stays_there(
        self, driver: ExtensionDriver
    ) -> None:
        driver.engine.progress = [{**block("- a memory"), "kind": "steer", "id": "steer-1"}]
        await driver.start("s")
        await driver.ask("Go.")
        driver._message("toolResult", "output")
        sent = [{"role": m["role"], "timestamp": m["timestamp"]} for m in driver.request]
        actions = await driver.adapter.event("context", {"messages": sent})
        (insert,) = [action for action in actions if action["type"] == "insert"]
        assert insert["after"] == len(sent) - 1
        assert [a["id"] for a in actions if a["type"] == "show"] == ["steer-1"]

        driver._message("assistant", "more")
        sent = [{"role": m["role"], "timestamp": m["timestamp"]} for m in driver.request]
        again = await driver.adapter.event("context", {"messages": sent})
        assert [a["after"] for a in again if a["type"] == "insert"] == [insert["after"]]

    @pytest.mark.spec("am/A-SCHED-1")
    async def test_steps_and_what_is_being_written_are_told_and_nothing_is_taken(
        self, driver: ExtensionDriver
    ) -> None:
        driver.engine.progress = [block("- a memory")]
        await driver.start("s")
        await driver._prompt("Go.")
        await driver.adapter.event("message_update", {"thinking": "hm", "text": "I"})
        await driver.adapter.event("turn_end", driver._delta())
        calls = [params for method, params in driver.engine.calls if method == "turn/progress"]
        assert [params["give"] for params in calls] == [False, False]
        assert calls[0]["partial"]["parts"] == [
            {"type": "thinking", "text": "hm"},
            {"type": "text", "text": "I"},
        ]
        assert "entries" in calls[1]
        assert driver.engine.progress

    async def test_results_with_one_timestamp_hold_a_block_once(self) -> None:
        replay = Replay(cap_tokens=1000)
        replay.add(("toolResult", 5), "a block")
        messages = [("user", 1), ("toolResult", 5), ("toolResult", 5), ("assistant", 6)]
        assert replay.places(messages) == [(2, "a block")]

    def test_a_compaction_says_what_stays_before_the_model(self) -> None:
        branch = Branch()
        records: list[dict[str, Any]] = [
            {"type": "message", "id": "m1", "message": {"role": "user", "content": "One."}},
            {"type": "model_change", "id": "x", "modelId": "m"},
            {"type": "message", "id": "m2", "message": {"role": "user", "content": "Two."}},
            {"type": "compaction", "id": "c", "summary": "One.", "firstKeptEntryId": "x"},
        ]
        entries = branch.replace(records)
        assert entries[-1]["kept"] == "m2"
