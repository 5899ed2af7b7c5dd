"""What a session said survives its end, in whatever way it ends."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

RULE = "Remember that the staging cluster is called heron."
MODELS = {"host/models": lambda _: {"models": [], "current": None}}


def kept(facts: list[str]) -> int:
    """How many facts hold what the user asked to keep."""
    return sum("heron" in fact for fact in facts)


def recovered(bridge: Any) -> None:
    """Wait until nothing is pending."""
    for _ in range(200):
        if bridge.call("status/get")["pending"] == 0:
            return
        threading.Event().wait(0.05)
    raise AssertionError("something is still pending")


@pytest.mark.spec("pi/M-01", "pi/M-02")
async def test_quit_memorizes_and_says_that_all_is_written(host: Any, say: Any) -> None:
    bridge = host.start()
    host.open(bridge)
    bridge.call("turn/end", {"turnId": "t1", "entries": say(RULE, "Noted.")})

    ended = bridge.call("session/end", {"reason": "quit"})

    assert ended == {"flushed": True, "pending": 0}
    assert kept(await host.facts()) == 1


@pytest.mark.spec("pi/M-01")
@pytest.mark.parametrize("reason", ["reload", "resume", "fork"])
async def test_other_ends_memorize_nothing_and_lose_nothing(
    host: Any, say: Any, reason: str
) -> None:
    bridge = host.start()
    host.open(bridge)
    bridge.call("turn/end", {"turnId": "t1", "entries": say(RULE, "Noted.")})

    ended = bridge.call("session/end", {"reason": reason})

    assert ended["flushed"] is False
    assert ended["pending"] == 1
    assert kept(await host.facts()) == 0


@pytest.mark.spec("br/BR-11")
@pytest.mark.parametrize("end", ["eof", "SIGTERM", "SIGHUP", "SIGKILL"])
async def test_a_session_that_dies_is_taken_up_by_the_next(host: Any, say: Any, end: str) -> None:
    bridge = host.start(answers=MODELS)
    host.open(bridge, capabilities={"complete": True})
    bridge.call("turn/end", {"turnId": "t1", "entries": say(RULE, "Noted.")})
    if end == "eof":
        assert bridge.close() == 0
    else:
        bridge.signal(getattr(signal, end))
        assert bridge.gone() == (-signal.SIGKILL if end == "SIGKILL" else 0)
    assert kept(await host.facts()) == 0
    # No model is asked while the host is gone.
    assert [method for method, _ in bridge.asked if method == "host/complete"] == []

    after = host.start()
    host.open(after, session="s2")
    recovered(after)

    assert after.call("session/end", {"reason": "quit"}) == {"flushed": True, "pending": 0}
    assert kept(await host.facts()) == 1
    assert after.stderr == ""


@pytest.mark.spec("br/BR-11")
async def test_all_ways_of_a_session_that_went_back_are_taken_up_at_once(
    host: Any, say: Any
) -> None:
    bridge = host.start()
    host.open(bridge)
    bridge.call("turn/end", {"turnId": "t1", "entries": say(RULE, "Noted.")})
    other = say("Remember that the release train leaves on Tuesdays.", "Noted.", start=10)
    bridge.call("turn/end", {"turnId": "t2", "entries": other})
    bridge.signal(signal.SIGKILL)
    bridge.gone()

    after = host.start()
    host.open(after, session="s2")
    recovered(after)

    assert after.call("session/end", {"reason": "quit"}) == {"flushed": True, "pending": 0}
    facts = await host.facts()
    assert kept(facts) == 1
    assert sum("Tuesdays" in fact for fact in facts) == 1


@pytest.mark.spec("br/BR-11")
async def test_a_path_that_no_turn_end_reported_is_kept_too(host: Any, say: Any) -> None:
    bridge = host.start()
    host.open(bridge)
    bridge.call("turn/start", {"turnId": "t2", "prompt": "Go on.", "entries": say(RULE, "Noted.")})
    assert bridge.close() == 0

    after = host.start()
    host.open(after, session="s2")
    recovered(after)

    assert kept(await host.facts()) == 1


@pytest.mark.spec("pi/M-01", "pi/M-02", "br/BR-22")
async def test_a_compaction_memorizes_what_goes_in_the_background(host: Any, say: Any) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slow(params: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        go_on.wait(20)
        return {"text": '{"facts": []}', "model": "x/y"}

    bridge = host.start(answers={**MODELS, "host/complete": slow})
    host.open(bridge, capabilities={"complete": True})
    path = say(RULE, "Noted.", "What about lunch?", "I cannot say.")
    bridge.call("turn/end", {"turnId": "t1", "entries": path})

    answered = bridge.call("compact/before", {"entries": path[:2], "reason": "manual"})
    assert answered == {"context": None}
    assert asked.wait(20)
    bridge.call("compact/after")
    go_on.set()
    ended = bridge.call("session/end", {"reason": "quit"})

    assert ended["pending"] == 0
    stages = [params["stage"] for method, params in bridge.asked if method == "host/complete"]
    assert "memorize/extract" in stages


@pytest.mark.spec("pi/M-03")
async def test_the_same_window_is_stored_once(host: Any, say: Any) -> None:
    bridge = host.start()
    host.open(bridge)
    path = say(RULE, "Noted.")
    bridge.call("turn/end", {"turnId": "t1", "entries": path})
    bridge.call("compact/before", {"entries": path, "reason": "manual"})
    bridge.call("compact/before", {"entries": path, "reason": "manual"})
    bridge.call("turn/end", {"turnId": "t2", "entries": path})
    assert bridge.call("session/end", {"reason": "quit"})["flushed"] is True

    resumed = host.start()
    host.open(resumed, reason="resume", entries=path)
    assert resumed.call("session/end", {"reason": "quit"})["flushed"] is True

    assert kept(await host.facts()) == 1


async def test_every_so_many_turns(host: Any, say: Any) -> None:
    bridge = host.start(MEM_MEMORIZE__EVERY_TURNS="2")
    host.open(bridge)
    bridge.call("turn/end", {"turnId": "t1", "entries": say(RULE, "Noted.")})
    before = await host.facts()
    path = say(RULE, "Noted.", "And now the tests, please.", "Running.")
    bridge.call("turn/end", {"turnId": "t2", "entries": path})
    bridge.call("session/end", {"reason": "resume"})

    assert before == []
    assert kept(await host.facts()) == 1


@pytest.mark.spec("pi/G-01", "pi/G-02", "pi/G-05")
async def test_tools_round_trip(host: Any) -> None:
    bridge = host.start()
    host.open(bridge)

    def tool(name: str, **arguments: object) -> dict[str, Any]:
        called = {"name": f"hindsight_{name}", "arguments": arguments, "toolCallId": "c1"}
        result: dict[str, Any] = bridge.call("tool/call", called)
        return result

    kept_once = tool("retain", content="Deploys happen on Tuesdays after ten.", kind="decision")
    kept_twice = tool("retain", content="Deploys happen on Tuesdays after ten.", kind="decision")
    found = tool("recall", query="when do deploys happen")
    nothing = tool("recall", query="zebra crossing")
    fact = found["details"]["hits"][0]
    gone = tool("forget", id=fact["id"], reason="not any more")
    after = tool("recall", query="when do deploys happen")

    assert kept_once["content"] == "retained"
    assert kept_once["details"]["outcome"] == "stored"
    assert kept_once["details"]["facts"] == [fact["id"]]
    assert kept_twice["details"]["outcome"] == "known"
    assert found["content"].startswith("- Deploys happen on Tuesdays after ten.")
    assert (fact["bank"], fact["kind"]) == ("demo", "decision")
    assert nothing["content"] == "(no relevant memory)"
    assert nothing["details"] == {"outcome": "empty", "hits": []}
    assert gone["details"]["outcome"] == "retired"
    assert after["details"]["outcome"] == "empty"
    for wrong in (
        tool("retain"),
        tool("retain", content="x", kind="poem"),
        tool("recall"),
        tool("recall", query=5),
        tool("recall", query="x", limit=0),
        tool("recall", query="x", since="soon"),
        tool("forget", id="demo:nothing", reason="x"),
        tool("sing"),
    ):
        assert wrong["isError"] is True
        assert wrong["details"]["outcome"] == "failed"


async def test_no_budget_holds_a_tool_back(host: Any) -> None:
    def answer(params: dict[str, Any]) -> dict[str, Any]:
        return {"text": "It is heron.", "model": "x/y"}

    await host.learn("The staging cluster is called heron.")
    bridge = host.start(answers={**MODELS, "host/complete": answer}, MEM_BUDGET__TOKENS_PER_DAY="0")
    host.open(bridge, capabilities={"complete": True})

    turn = host.turn(bridge, "What is the staging cluster called?")
    reflected = bridge.call(
        "tool/call", {"name": "hindsight_reflect", "arguments": {"query": "staging cluster?"}}
    )

    stages = [params["stage"] for method, params in bridge.asked if method == "host/complete"]
    assert turn["outcome"] == "degraded"
    assert reflected["isError"] is False
    assert stages == ["bank/reflect"]
