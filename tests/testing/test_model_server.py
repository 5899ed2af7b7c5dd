from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.errors import ProviderError
from hindsight_core.providers.base import CompletionRequest, Message
from hindsight_core.providers.builtin import ProviderPlugin
from hindsight_core.providers.chain import ModelChain
from hindsight_core.providers.embeddings import openai_embedder
from hindsight_core.services import Services
from hindsight_core.testing.embedders import hash_vector
from hindsight_core.testing.model_server import ModelServer
from hindsight_core.testing.models import ScriptedModel
from hindsight_core.testing.network import NetworkForbidden

REQUEST = CompletionRequest(
    stage="recall/judge",
    messages=(Message("user", "redis ttl?"),),
    system="Judge. (hindsight stage: recall/judge)",
)


def chain(url: str, **models: Any) -> ModelChain:
    factories: dict[str, Any] = {}
    ProviderPlugin().hindsight_register_models(factories.__setitem__)
    settings = Settings.model_validate({"models": {"base_url": url, **models}})
    return ModelChain(settings, Services(), factories)


@pytest.mark.usefixtures("loopback")
async def test_the_whole_way_over_a_real_socket() -> None:
    script = {
        "recall/judge": {"score": 90, "keep": [1]},
        "memorize/extract": ["first", "second"],
        "*": {"match": [["redis", "about redis"]], "else": "something else"},
    }
    with ModelServer(script) as server:
        models = chain(server.url, model="tiny")
        judged = await models.complete(REQUEST, purpose="recall")
        assert json.loads(judged.text) == {"score": 90, "keep": [1]}
        extract = replace(REQUEST, stage="memorize/extract")
        texts = [(await models.complete(extract, purpose="retain")).text for _ in range(3)]
        assert texts == ["first", "second", "second"]
        other = replace(REQUEST, stage="tasks/briefing")
        assert (await models.complete(other, purpose="recall")).text == "about redis"
        await models.close()
    assert server.stages() == ["recall/judge", *["memorize/extract"] * 3, "tasks/briefing"]
    assert server.requests[0].mark == "recall/judge"
    assert server.requests[0].body["model"] == "tiny"
    assert models.meter.stages["recall/judge"].input_tokens > 0


@pytest.mark.usefixtures("loopback")
@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ({"status": 500}, "answered 500"),
        ({"status": 429, "headers": {"Retry-After": "7"}}, "asks to wait 7 s"),
        ({"body": "<html>hello</html>"}, "no JSON object"),
        ({"body": ""}, "empty body"),
        ({"text": ""}, "empty text"),
        ({"text": "late", "delay_s": 30}, "did not answer"),
        ({"body": '{"choices": [{"mess'}, "no JSON object"),
    ],
)
async def test_misbehaviour(reply: Any, says: str) -> None:
    with ModelServer({"*": reply}) as server:
        # Only the slow server may run into the bound, however busy this machine is.
        slow = isinstance(reply, dict) and "delay_s" in reply
        models = chain(server.url, model="tiny", timeout_ms=100 if slow else 10_000)
        with pytest.raises(ProviderError, match=says):
            await models.complete(REQUEST, purpose="recall")
        await models.close()


@pytest.mark.usefixtures("loopback")
async def test_keys_embeddings_and_the_model_list(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "-".join(["made", "up"])
    monkeypatch.setenv("MY_KEY", key)
    with ModelServer({"*": "fine"}, key=key) as server:
        without = chain(server.url, model="tiny")
        with pytest.raises(ProviderError, match="401"):
            await without.complete(REQUEST, purpose="recall")
        await without.close()
        named = chain(server.url, api_key_env="MY_KEY")
        assert (await named.complete(REQUEST, purpose="recall")).model == "scripted"
        await named.close()
        section = {"base_url": server.url, "model": "m", "dimensions": 8, "api_key_env": "MY_KEY"}
        embedder = openai_embedder(Settings.model_validate({"embeddings": section}), Services())
        assert await embedder.embed(["a b"], kind="query") == [pytest.approx(hash_vector("a b", 8))]
        await embedder.close()


@pytest.mark.usefixtures("loopback")
async def test_a_server_that_went_away_is_an_error() -> None:
    with ModelServer({"*": "fine"}) as server:
        models = chain(server.url, model="tiny")
        await models.complete(REQUEST, purpose="recall")
    with pytest.raises(ProviderError, match="cannot be reached"):
        await models.complete(REQUEST, purpose="recall")
    await models.close()


async def test_a_scripted_model_without_a_reply_fails() -> None:
    with pytest.raises(ProviderError, match="no reply for recall/judge"):
        await ScriptedModel({}).complete(REQUEST)


@pytest.mark.usefixtures("loopback")
async def test_as_a_program(tmp_path: Path) -> None:
    script, log = tmp_path / "script.json", tmp_path / "log.jsonl"
    script.write_text('{"recall/judge": "as a program"}')
    command = [sys.executable, "-m", "hindsight_core.testing.models"]
    process = await asyncio.create_subprocess_exec(
        *command,
        *("--script", str(script), "--log", str(log)),
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        # Where the tests run in the background, an interrupt may be ignored, and so by children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", url)
        models = chain(url, model="tiny")
        assert (await models.complete(REQUEST, purpose="recall")).text == "as a program"
        await models.close()
    finally:
        process.send_signal(signal.SIGINT)
        await process.communicate()
    assert process.returncode == 0
    assert json.loads(log.read_text())["stage"] == "recall/judge"


def test_the_guard_keeps_tests_off_the_network() -> None:
    with pytest.raises(NetworkForbidden), socket.socket() as outside:
        outside.connect(("192.0.2.1", 80))
    with pytest.raises(NetworkForbidden), socket.socket() as inside:
        inside.connect(("127.0.0.1", 9))
    with pytest.raises(NetworkForbidden):
        socket.getaddrinfo("example.org", 80)
