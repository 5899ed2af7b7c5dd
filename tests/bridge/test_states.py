"""Where memory is not active every call answers harmlessly, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

ASK = "Which port does the API gateway listen on?"
GATEWAY = "The API gateway listens on port 8443 behind nginx."


def everything(bridge: Any) -> dict[str, Any]:
    """Every canonical call once; none may fail."""
    return {
        "start": bridge.call("session/start", {"reason": "startup", "entries": []}),
        "turn": bridge.call("turn/start", {"turnId": "t", "prompt": ASK, "entries": []}),
        "progress": bridge.call("turn/progress", {"turnId": "t", "entries": []}),
        "end": bridge.call("turn/end", {"turnId": "t", "entries": [], "aborted": False}),
        "before": bridge.call("compact/before", {"entries": [], "reason": "manual"}),
        "after": bridge.call("compact/after", {}),
        "tool": bridge.call("tool/call", {"name": "hindsight_recall", "arguments": {"query": ASK}}),
        "command": bridge.call("command/run", {"name": "mem-status", "arguments": ""}),
        "status": bridge.call("status/get"),
        "quit": bridge.call("session/end", {"reason": "quit"}),
    }


def harmless(results: dict[str, Any]) -> None:
    """What every answer looks like where memory does nothing."""
    assert results["start"] == {"blocks": []}
    assert results["turn"]["outcome"] == "skipped"
    assert results["turn"]["blocks"] == []
    assert results["turn"]["reason"]
    assert results["progress"] == {"blocks": []}
    assert results["end"] == {}
    assert results["before"] == {"context": None}
    assert results["after"] == {}
    assert results["quit"] == {"flushed": True, "pending": 0}


async def test_before_initialize(host: Any) -> None:
    results = everything(host.start())

    harmless(results)
    assert results["turn"]["reason"] == "not initialized"
    assert results["tool"]["isError"] is True


@pytest.mark.spec("pi/C-13", "pi/D-13", "pi/G-05")
async def test_dormant_without_a_declared_bank(host: Any) -> None:
    del host.env["HINDSIGHT_MEM_BANK__ID"]
    bridge = host.start()
    opened = host.open(bridge)
    results = everything(bridge)

    assert opened["state"] == "dormant"
    assert "bank.id" in opened["reason"]
    assert opened["bank"] is None
    assert opened["tools"] == []
    harmless(results)
    assert results["tool"]["isError"] is True
    assert "bank.id" in results["tool"]["content"]
    assert bridge.close() == 0
    assert not (host.memory / "banks").exists()


async def test_off_by_the_kill_switch(host: Any) -> None:
    await host.learn(GATEWAY)
    bridge = host.start(MEM_OFF="1")
    opened = host.open(bridge)

    assert opened["state"] == "off"
    assert "HINDSIGHT_MEM_OFF" in opened["reason"]
    harmless(everything(bridge))


async def test_off_when_a_file_of_ours_cannot_be_used(host: Any) -> None:
    (host.memory / "queue.db").mkdir(parents=True)
    bridge = host.start()
    opened = host.open(bridge)

    assert opened["state"] == "off"
    assert "queue.db" in opened["reason"]
    harmless(everything(bridge))


@pytest.mark.spec("br/BR-04")
async def test_off_inside_a_process_that_memory_started(host: Any) -> None:
    bridge = host.start(MEM_INSIDE="1")

    assert host.open(bridge)["state"] == "off"
    harmless(everything(bridge))


@pytest.mark.spec("pi/U-04")
async def test_tools_only_in_an_ephemeral_session(host: Any) -> None:
    await host.learn(GATEWAY)
    bridge = host.start()
    opened = host.open(bridge, ephemeral=True)
    results = everything(bridge)

    assert opened["state"] == "tools-only"
    assert {tool["name"] for tool in opened["tools"]} >= {"hindsight_recall", "hindsight_retain"}
    harmless(results)
    assert results["tool"]["isError"] is False
    assert GATEWAY in results["tool"]["content"]


@pytest.mark.spec("pi/C-06")
async def test_auto_off_leaves_tools_and_stays_active(host: Any, say: Any) -> None:
    await host.learn(GATEWAY)
    bridge = host.start(AUTO_OFF="1")
    opened = host.open(bridge)
    bridge.call("turn/end", {"turnId": "t", "entries": say("Remember that x is y.", "Done.")})
    results = everything(bridge)

    assert opened["state"] == "active"
    harmless(results)
    assert GATEWAY in results["tool"]["content"]
    assert await host.facts() == [GATEWAY]


@pytest.mark.spec("pi/C-14", "pi/D-14")
async def test_an_untrusted_project_decides_nothing(host: Any) -> None:
    folder = host.project / ".hindsight"
    folder.mkdir()
    (folder / "config.toml").write_text('[bank]\nid = "theirs"\n')
    del host.env["HINDSIGHT_MEM_BANK__ID"]

    untrusted = host.open(host.start(), trusted=False)
    unsaid = host.open(host.start())
    trusted = host.open(host.start(), trusted=True)

    assert untrusted["state"] == unsaid["state"] == "dormant"
    assert trusted["state"] == "active"
    assert trusted["bank"] == {"id": "theirs", "backend": "sqlite"}


@pytest.mark.spec("br/BR-67")
async def test_the_bank_stays_where_the_session_began(host: Any) -> None:
    host.env["HINDSIGHT_MEM_BANK__ID"] = "auto"
    other = host.project.parent / "other"
    (other / ".git").mkdir(parents=True)
    bridge = host.start()
    opened = host.open(bridge)
    turn = {"turnId": "t", "prompt": "cd ../other", "entries": [], "cwd": str(other)}
    bridge.call("turn/start", turn)

    assert opened["bank"]["id"] == "shop"
    assert bridge.call("status/get")["bank"] == opened["bank"]


async def test_a_session_that_ended_says_so(host: Any) -> None:
    bridge = host.start()
    host.open(bridge)
    bridge.call("session/end", {"reason": "quit"})

    assert host.turn(bridge, ASK)["reason"] == "the session has ended"


async def test_a_read_only_bank_is_written_on_no_path(host: Any, say: Any) -> None:
    await host.learn(GATEWAY)
    bridge = host.start(MEM_BANK__READ_ONLY="true")
    host.open(bridge)
    assert host.turn(bridge, ASK)["blocks"]

    bridge.call("turn/end", {"turnId": "t", "entries": say("Remember that x is y.", "Done.")})
    retained = bridge.call(
        "tool/call", {"name": "hindsight_retain", "arguments": {"content": "A is B."}}
    )
    forgotten = bridge.call(
        "tool/call", {"name": "hindsight_forget", "arguments": {"id": "x", "reason": "y"}}
    )
    ended = bridge.call("session/end", {"reason": "quit"})

    for result in (retained, forgotten):
        assert result["isError"] is True
        assert "read_only" in result["content"]
    assert ended == {"flushed": True, "pending": 0}
    assert await host.facts() == [GATEWAY]


async def test_where_the_agent_has_a_memory_of_its_own(host: Any) -> None:
    bridge = host.start()
    other = "omp's own memory (memory.backend: hindsight)"
    session = {"id": "s", "otherMemory": other}
    params = {"protocol": 1, "cwd": str(host.project), "session": session}
    opened = bridge.call("initialize", params)
    results = everything(bridge)

    harmless(results)
    assert opened["state"] == "off"
    assert opened["reason"].startswith(f"{other} is on")
    assert opened["tools"] == []
    assert results["tool"]["isError"] is True
    assert results["tool"]["content"].count(other) == 1


async def test_a_session_goes_on_by_words_when_its_embedder_cannot_be_made(host: Any) -> None:
    bridge = host.start(MEM_EMBEDDINGS__PROVIDER="onnx")
    opened = host.open(bridge)
    assert opened["state"] == "active"
    assert "embeddings.provider = onnx needs one folder" in str(opened["warnings"])
