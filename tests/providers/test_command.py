"""A command as a model: what it is asked, what it may cost, and that it ends."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from pathlib import Path

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.errors import ProviderError
from hindsight_core.providers.base import CompletionRequest, Message
from hindsight_core.providers.command import CommandModel, command_factory
from hindsight_core.providers.command_forms import FORMS, offers, read_answer
from hindsight_core.services import Services

SYSTEM = "You find facts. (hindsight stage: memorize/extract)"


def request(*contents: str, **more: object) -> CompletionRequest:
    roles = ("user", "assistant")
    messages = tuple(Message(roles[n % 2], text) for n, text in enumerate(contents))
    return CompletionRequest("memorize/extract", messages, system=SYSTEM, **more)


def program(folder: Path, code: str, name: str = "answerer") -> str:
    """An executable of that name which runs the code."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!{sys.executable} -I\nimport json, os, sys, time\n{code}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.fixture
def model(tmp_path):
    def made(code: str, *, name: str = "answerer", arguments: tuple[str, ...] = ("x",), **env: str):
        command = (program(tmp_path, code, name), *arguments)
        env = {"PATH": os.environ["PATH"], **env}
        return CommandModel(command, env=env, folder=tmp_path / "own")

    return made


ECHO = "print(sys.stdin.read(), end='')"
TELL = (
    """print(json.dumps({'result': json.dumps({'argv': sys.argv[1:], 'in': sys.stdin.read()})}))"""
)


async def test_a_command_line_gets_the_whole_prompt_on_stdin(model):
    answer = await model(ECHO).complete(request("Find the facts."))
    assert answer.text == f"{SYSTEM}\n\nFind the facts."
    assert answer.model == "answerer"
    assert answer.usage is None


async def test_several_messages_are_told_apart(model):
    answer = await model(ECHO).complete(request("one", "two", "three"))
    assert answer.text == f"{SYSTEM}\n\n[user]\none\n\n[assistant]\ntwo\n\n[user]\nthree"


@pytest.mark.parametrize("name", FORMS)
async def test_a_bare_known_name_is_asked_in_its_print_mode(model, name):
    asked = model(TELL, name=name, arguments=())
    answer = await asked.complete(request("Find the facts.", model="small"))
    seen = json.loads(answer.text)
    form = FORMS[name]
    assert tuple(seen["argv"][: len(form.arguments)]) == form.arguments
    assert [form.model, "small"] == seen["argv"][len(form.arguments) :][:2]
    apart = form.system is not None
    assert (SYSTEM in seen["argv"]) == apart
    assert seen["in"] == ("Find the facts." if apart else f"{SYSTEM}\n\nFind the facts.")


@pytest.mark.spec("br/BR-04")
async def test_what_it_starts_carries_the_mark_and_no_session_of_the_agents(model, tmp_path):
    code = """
import subprocess
inner = [sys.executable, '-c', 'import os; print(os.environ["HINDSIGHT_MEM_INSIDE"])']
mark = subprocess.run(inner, capture_output=True, text=True).stdout.strip()
print(json.dumps({'result': json.dumps([mark, 'CLAUDECODE' in os.environ, os.getcwd()])}))
"""
    answer = await model(code, CLAUDECODE="1").complete(request("x"))
    assert json.loads(answer.text) == ["1", False, str(tmp_path / "own")]


async def test_usage_and_model_are_read_from_what_each_agent_prints():
    claude = {
        "result": "A",
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 3},
        "modelUsage": {"claude-small": {}},
    }
    text, model, usage = read_answer(json.dumps(claude))
    assert (text, model, usage.input_tokens, usage.output_tokens) == ("A", "claude-small", 12, 3)
    item = {"type": "agent_message", "text": "B"}
    codex = [
        {"type": "thread.started"},
        {"type": "item.completed", "item": {"type": "error", "message": "no metadata"}},
        {"type": "item.completed", "item": item},
        {"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 2}},
    ]
    text, _, usage = read_answer("\n".join(map(json.dumps, codex)))
    assert (text, usage.input_tokens, usage.output_tokens) == ("B", 9, 2)
    tokens = {"prompt": 8, "candidates": 2, "thoughts": 1}
    gemini = {"response": "C", "stats": {"models": {"gemini-small": {"tokens": tokens}}}}
    text, model, usage = read_answer(json.dumps(gemini, indent=2))
    assert (text, model, usage.input_tokens, usage.output_tokens) == ("C", "gemini-small", 8, 3)


@pytest.mark.parametrize("output", ["plain words", '{"facts": []}', "[1]", '{"result": 3}'])
def test_anything_else_is_the_answer_itself(output):
    assert read_answer(output) == (output, None, None)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("sys.exit('no credit left')", "no credit left"),
        ("print('limit reached'); sys.exit(3)", "limit reached"),
        ("sys.exit(4)", "it said nothing"),
        ("pass", "empty text"),
        ("print(json.dumps({'result': '  '}))", "empty text"),
    ],
)
async def test_failure_is_an_error_that_says_why(model, code, said):
    with pytest.raises(ProviderError, match=said):
        await model(code).complete(request("x"))


async def test_a_program_that_is_not_there_is_named(tmp_path):
    gone = CommandModel((str(tmp_path / "gone"),), env={}, folder=tmp_path / "own")
    with pytest.raises(ProviderError, match=r"models\.command: .*gone") as failed:
        await gone.complete(request("x"))
    assert not failed.value.retryable


async def test_a_call_that_is_given_up_ends_all_it_started(model, tmp_path):
    started = tmp_path / "started"
    code = f"""
import subprocess
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])
open({str(started)!r} + '.part', 'w').write(f'{{os.getpid()}} {{child.pid}}')
os.rename({str(started)!r} + '.part', {str(started)!r})
time.sleep(60)
"""
    call = asyncio.create_task(model(code).complete(request("x")))
    while not started.exists():
        await asyncio.sleep(0.02)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    for pid in map(int, started.read_text().split()):
        for _ in range(100):
            if not _runs(pid):
                break
            await asyncio.sleep(0.02)
        assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_without_a_command_the_first_agent_on_the_path_is_asked(tmp_path):
    env = {"PATH": str(tmp_path / "bin"), "HINDSIGHT_MEM_HOME": str(tmp_path / "home")}
    chosen = Settings.model_validate({"models": {"provider": "command"}})
    with pytest.raises(ProviderError, match=r"models\.command is not set"):
        command_factory(chosen, Services(env=env))
    for name in ("gemini", "codex"):
        program(tmp_path, ECHO, name)
    assert [offer.name for offer in offers(env)] == ["codex", "gemini"]
    assert isinstance(command_factory(chosen, Services(env=env)), CommandModel)


@pytest.mark.parametrize("written", ["claude -p 'a b'", ["claude", "-p", "a b"]])
def test_the_setting_is_a_command_line_or_a_list(written):
    settings = Settings.model_validate({"models": {"command": written}})
    assert settings.models.command == ("claude", "-p", "a b")
