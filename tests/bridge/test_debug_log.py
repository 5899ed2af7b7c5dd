"""The debug log of a bridge: only when asked for, its owner's alone, with text only when asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

SECRET = "AK" + "IA" + "Z7Q4" * 4
PROMPT = "Which port does the frobnicator listen on?"


def answers(params: dict[str, Any]) -> dict[str, Any]:
    replies = {"recall/queries": {"queries": ["frobnicator port"]}}
    reply = replies.get(params["stage"], {"score": 0, "keep": []})
    return {"text": json.dumps(reply), "model": "own/model"}


async def logged(host: Any, *, prompt: str = PROMPT, **env: str) -> str:
    await host.learn("The frobnicator listens on port 4040.")
    bridge = host.start(
        answers={"host/complete": answers, "host/models": lambda _: {"models": []}}, **env
    )
    host.open(bridge, capabilities={"complete": True})
    host.turn(bridge, prompt)
    bridge.call("session/end", {"reason": "quit"})
    bridge.close()
    files = sorted((host.memory / "logs").iterdir())
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    return "".join(file.read_text() for file in files)


@pytest.mark.spec("pi/O-02")
async def test_without_debug_there_is_no_debug_log(host: Any) -> None:
    whole = await logged(host)
    assert "DEBUG" not in whole
    assert "frobnicator" not in whole


@pytest.mark.spec("pi/O-02")
@pytest.mark.parametrize("name", ["DEBUG", "MEM_LOG__LEVEL"])
async def test_debug_logs_each_model_call_without_its_text(host: Any, name: str) -> None:
    whole = await logged(host, **{name: "1" if name == "DEBUG" else "debug"})
    assert "DEBUG" in whole
    assert "model.call stage=recall/queries" in whole
    assert "frobnicator" not in whole


@pytest.mark.spec("pi/O-02", "pi/D-16")
async def test_text_is_logged_where_it_was_asked_for_and_a_secret_never(host: Any) -> None:
    whole = await logged(
        host,
        prompt=f"{PROMPT} The key is {SECRET}.",
        MEM_LOG__LEVEL="debug",
        MEM_LOG__INCLUDE_TEXT="true",
    )
    assert PROMPT in whole
    assert "frobnicator port" in whole
    assert SECRET not in whole


@pytest.mark.spec("pi/O-03", "pi/D-16")
async def test_a_secret_is_in_no_file_and_no_file_is_open_to_others(host: Any, say: Any) -> None:
    path = say(
        f"Remember that the key of the frobnicator is {SECRET}.",
        "Noted.",
        "Remember that the frobnicator stands in Lisbon.",
        "Noted.",
    )
    bridge = host.start(MEM_LOG__INCLUDE_TEXT="true", MEM_LOG__LEVEL="debug")
    host.open(bridge, session=f"run-{SECRET}")
    bridge.call("turn/end", {"turnId": "t1", "entries": path, "aborted": False})
    bridge.call("tool/call", {"name": "hindsight_retain", "arguments": {"content": SECRET}})
    bridge.process.kill()
    bridge.process.wait()
    again = host.start()
    host.open(again, session="s2")
    again.call("session/end", {"reason": "quit"})
    again.close()
    assert any("frobnicator" in fact for fact in await host.facts())
    files = [file for file in host.memory.rglob("*") if file.is_file()]
    assert {file.name.partition(".")[0] for file in files} >= {"queue", "state", "demo"}
    for file in files:
        assert SECRET.encode() not in file.read_bytes(), file
        assert file.stat().st_mode & 0o077 == 0, file


@pytest.mark.spec("pi/O-03")
def test_prompts_ask_for_where_a_secret_is_and_not_for_what() -> None:
    from hindsight_core.prompt_contexts import Extract, Verify
    from hindsight_core.prompts import Prompts

    prompts = Prompts()
    extract = prompts.render("memorize/extract", Extract("", (), "en")).text.lower()
    verify = prompts.render("memorize/verify", Verify("", (), "en")).text.lower()
    assert "secret" in extract
    assert "where" in next(line for line in extract.splitlines() if "secret" in line)
    assert "secret" in verify
