"""Many sessions, agents and instances of one opencode process."""

from __future__ import annotations

from typing import Any

import pytest
from hindsight_host_opencode import sessions as sessions_module
from hindsight_host_opencode.adapter import OpencodeAdapter

from hindsight_core.testing.hosts import FakeEngine, block

OURS = '<hindsight-memory kind="recall">\n- ours\n</hindsight-memory>'


def system(text: str = OURS) -> dict[str, Any]:
    return {**block(text), "placement": "system"}


def named(engine: FakeEngine, method: str) -> list[dict[str, Any]]:
    return [params for name, params in engine.calls if name == method]


def opened(engine: FakeEngine) -> dict[str, Any]:
    return named(engine, "initialize")[0]


class Banked(FakeEngine):
    """Says that each agent has a bank of its own, or one for all."""

    shared = False

    async def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        result = await super().call(method, params)
        if method == "initialize":
            name = "all" if self.shared else params["session"].get("agent", "none")
            result["bank"] = {"id": name, "backend": "fake"}
        return result


@pytest.fixture
def banked(driver: Any) -> Any:
    def another() -> FakeEngine:
        driver.engines.append(Banked())
        return driver.engines[-1]

    driver.adapter = OpencodeAdapter(another)
    return driver


@pytest.mark.spec("oc/O-EV-1")
async def test_a_session_is_opened_with_its_agent_and_its_parent(driver: Any) -> None:
    await driver.start("root", agent="review")
    await driver.start("child", agent="general", parent="root")

    root, child = (opened(engine)["session"] for engine in driver.engines)
    assert root == {"id": "root", "agent": "review"}
    assert child == {"id": "child", "agent": "general", "parentId": "root"}
    assert named(driver.engines[0], "session/start") == [{"reason": "startup"}]


@pytest.mark.spec("oc/O-EV-8", "oc/O-EV-2")
async def test_a_session_that_nobody_announced_is_opened_by_its_first_message(driver: Any) -> None:
    await driver.start("s")
    other = OpencodeAdapter(driver._another)
    driver.adapter = other
    driver._next = fresh = FakeEngine()
    fresh.blocks = [system()]

    assert await driver.ask("Hello") == [OURS]
    assert named(fresh, "session/start") == [{"reason": "resume"}]


@pytest.mark.spec("oc/O-EV-9", "oc/O-EV-2")
async def test_a_system_block_stays_the_same_for_the_whole_session(driver: Any) -> None:
    await driver.start("s")
    driver.engine.blocks = [system()]
    requests = [await driver.ask("One"), await driver.again()]
    await driver.done()
    requests.append(await driver.ask("Two"))
    await driver.done()
    await driver.compact()
    requests.append(await driver.ask("Three"))

    assert requests == [[OURS]] * 4


@pytest.mark.spec("oc/O-EV-2", "oc/O-CA-5")
async def test_a_request_without_a_session_or_of_an_unknown_one_gets_nothing(driver: Any) -> None:
    await driver.start("s")
    driver.engine.blocks = [system()]
    await driver.ask("Hello")

    name = "experimental.chat.system.transform"
    assert await driver.send(name) == []
    assert await driver.send(name, sessionID="other") == []


async def test_titles_and_summaries_get_no_block(driver: Any) -> None:
    await driver.start("s")
    driver.engine.blocks = [system(), block("context")]
    await driver.prompt("Hello")
    name = "experimental.chat.system.transform"
    title = await driver.send(name, sessionID="s", housekeeping=True)
    first = await driver.request()
    messages = driver.messages
    await driver.send("experimental.session.compacting", session=driver.info, messages=messages)
    summary = await driver.request()
    await driver.send("session.compacted", sessionID="s")

    assert (title, first, summary) == ([], [OURS, "context"], [])
    assert await driver.request() == [OURS]


@pytest.mark.spec("oc/O-EV-3")
async def test_both_events_of_a_turns_end_count_once(driver: Any) -> None:
    await driver.start("s")
    await driver.ask("One")
    await driver.done()
    await driver.idle()
    await driver.ask("Two")
    await driver.done()

    assert len(named(driver.engine, "turn/end")) == 2


async def test_a_late_end_of_a_turn_leaves_the_next_ones_recall_alone(driver: Any) -> None:
    await driver.start("s")
    await driver.ask("One")
    driver.message("assistant", "Done.")
    first = driver.messages[0]["info"]["id"]
    driver.engine.blocks = [system()]
    await driver.prompt("Two")
    await driver.send("session.idle", session=driver.info, messages=driver.messages, asked=first)

    assert await driver.request() == [OURS]
    assert driver.engine.taken_back == 0


@pytest.mark.spec("oc/O-EV-13", "oc/O-EV-3")
async def test_idle_takes_what_the_host_lists_then(driver: Any) -> None:
    await driver.start("s")
    await driver.ask("One")
    driver.message("assistant", "An answer that no hook has shown.")
    await driver.idle()

    (end,) = named(driver.engine, "turn/end")
    texts = [part["text"] for entry in end["entries"] for part in entry["parts"]]
    assert texts == ["One", "An answer that no hook has shown."]
    assert end["aborted"] is False


@pytest.mark.spec("oc/O-EV-5", "oc/O-RET-4")
async def test_a_session_older_than_the_process(driver: Any) -> None:
    await driver.start("s")
    driver.message("user", "Before.", agent=None)
    driver.adapter = OpencodeAdapter(driver._another)
    driver._next = fresh = FakeEngine()

    await driver.send("session.idle", session=None, messages=driver.messages)
    await driver.send("session.idle", session=driver.info, messages=None)
    await driver.send("experimental.session.compacting", session=None, messages=None)
    assert fresh.calls == []

    await driver.idle()
    assert opened(fresh)["session"] == {"id": "s"}
    assert fresh.said("turn/end") == ["Before."]


@pytest.mark.spec("oc/O-EV-4", "oc/O-CMP-2", "oc/O-CMP-3")
async def test_a_compaction_is_told_the_whole_path_and_adds_what_memory_says(driver: Any) -> None:
    class Telling(FakeEngine):
        async def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
            result = await super().call(method, params)
            return {"context": OURS} if method == "compact/before" else result

    driver.adapter = OpencodeAdapter(lambda: engine)
    engine = Telling()
    await driver.start("s")
    await driver.ask("One")
    driver.message("assistant", "Done.")

    assert await driver.compact() == [{"type": "context", "text": OURS}]
    assert engine.said("turn/progress") == ["One"]
    names = [name for name, _ in engine.calls]
    assert names.index("turn/progress") < names.index("compact/before")


@pytest.mark.spec("oc/O-EV-7", "oc/O-EV-10")
async def test_instances_of_one_process_share_what_they_know(driver: Any) -> None:
    await driver.start("s")
    driver.engine.blocks = [system()]
    await driver.ask("One")
    elsewhere = await driver.adapter.event(
        "experimental.chat.system.transform", {"directory": "/other", "sessionID": "s"}
    )

    assert [action["text"] for action in elsewhere] == [OURS]
    assert len(named(driver.engine, "turn/start")) == 1


async def test_disposing_of_one_instance_leaves_the_others_sessions(driver: Any) -> None:
    await driver.start("here")
    driver.directory = "/other"
    await driver.start("there")
    await driver.quit()

    first, second = driver.engines
    assert named(first, "session/end") == []
    assert named(second, "session/end") == [{"reason": "quit"}]


async def test_an_agent_with_another_bank_gets_its_own_turns_only(banked: Any) -> None:
    await banked.start("s", agent="build")
    await banked.ask("For build.", agent="build")
    banked.message("assistant", "Done.")
    await banked.ask("For plan.", agent="plan")
    banked.message("assistant", "Planned.", agent="plan")
    await banked.idle()

    build, plan = banked.engines
    assert build.said("turn/end") == ["For build."]
    assert plan.said("turn/end") == ["For plan."]


async def test_an_agent_with_the_same_bank_shares_its_engine(
    banked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Banked, "shared", True)
    await banked.start("s", agent="build")
    await banked.ask("For build.", agent="build")
    await banked.ask("For plan.", agent="plan")
    await banked.idle()

    first, second = banked.engines
    assert first.said("turn/end") == ["For build.", "For plan."]
    assert named(second, "session/end") == [{"reason": "reload"}]
    assert named(second, "turn/end") == []


async def test_a_session_that_is_deleted_ends(driver: Any) -> None:
    await driver.start("s")
    await driver.send("session.deleted", session={"id": "s"})
    await driver.send("session.deleted", session={"id": "unknown"})

    assert named(driver.engine, "session/end") == [{"reason": "quit"}]


@pytest.mark.spec("oc/O-EV-8")
async def test_the_number_of_open_sessions_is_bounded(driver: Any) -> None:
    for number in range(sessions_module.LIVE + 1):
        await driver.start(f"s{number}")

    ended = [named(engine, "session/end") for engine in driver.engines]
    assert ended[0] == [{"reason": "reload"}]
    assert all(end == [] for end in ended[1:])


@pytest.mark.spec("oc/O-TOOL-3")
async def test_a_tool_is_called_for_its_own_session_and_agent(driver: Any) -> None:
    await driver.start("root", agent="build")
    await driver.start("child", agent="tester", parent="root")

    await driver.send(
        "tool.execute", session=driver.info, agent="tester", tool="hindsight_recall",
        args={"query": "port"},
    )  # fmt: skip

    assert named(driver.engines[0], "tool/call") == []
    assert named(driver.engines[1], "tool/call") == [
        {"name": "hindsight_recall", "arguments": {"query": "port"}}
    ]


@pytest.mark.spec("oc/O-TOOL-4")
async def test_the_terminals_command_works_on_the_path_as_it_is_now(driver: Any) -> None:
    await driver.start("s")
    await driver.ask("Keep this.")
    driver.message("assistant", "Yes.")

    await driver.send(
        "command.execute", session=driver.info, messages=driver.messages,
        command="hindsight-retain",
    )  # fmt: skip

    assert driver.engine.said("turn/progress") == ["Keep this."]
    assert named(driver.engine, "command/run") == [{"name": "mem-save", "arguments": "all"}]
    assert named(driver.engine, "turn/end") == []
