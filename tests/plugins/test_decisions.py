"""Decision plugins in a real bridge, found as installed distributions are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.identity import fact_id
from hindsight_core.memory import Document, Fact
from hindsight_core.testing.bridge import BridgeProcess

DISTS = Path(__file__).parent / "dists"
GATEWAY = "The API gateway listens on port 8443 behind nginx."
ASK = "which port does the API gateway listen on?"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The plugins, built and installed by pip."""
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--disable-pip-version-check", "--target", str(target)]
    names = ("decision-rules", "decision-policy", "task-reader-boxes")
    subprocess.run([*command, *(str(DISTS / n) for n in names)], check=True, timeout=50)
    return target


@pytest.fixture
async def start(site, tmp_path):
    """Starts a bridge with one fact in its bank, and opens a session in it."""
    bank = SqliteBank("demo", tmp_path / "memory" / "banks" / "demo.db")
    facts = (Fact(id=fact_id(GATEWAY), text=GATEWAY),)
    await bank.retain(Document(id="given", text="", facts=facts))
    await bank.close()
    (tmp_path / "shop").mkdir()
    with ExitStack() as stack:

        def run(*, answers=None, plugins, **settings):
            env = {**os.environ, "HINDSIGHT_MEM_HOME": str(tmp_path / "memory")}
            env |= {"PYTHONPATH": str(site), "HINDSIGHT_MEM_PLUGINS": plugins}
            env |= {"HINDSIGHT_MEM_BANK__ID": "demo", "HINDSIGHT_MEM_TASKS__DETECT": "false"}
            env |= {f"HINDSIGHT_MEM_{name}": value for name, value in settings.items()}
            bridge = stack.enter_context(
                BridgeProcess(env=env, cwd=tmp_path / "shop", answers=answers or {})
            )
            opened = bridge.call(
                "initialize",
                {
                    "protocol": 1,
                    "client": {"name": "test", "version": "1"},
                    "cwd": str(tmp_path / "shop"),
                    "session": {"id": "s1"},
                    "capabilities": {"complete": bool(answers)},
                },
            )
            assert (opened["state"], opened["warnings"]) == ("active", [])
            bridge.call("session/start", {"reason": "startup", "entries": []})
            return bridge

        yield run


def turn(bridge, prompt, entries=()):
    return bridge.call("turn/start", {"turnId": "t", "prompt": prompt, "entries": list(entries)})


def spans(bridge):
    told = [params for method, params in bridge.notes if method == "telemetry"]
    return [p["attributes"] for p in told if p["attributes"]["phase"] == "decision"]


async def test_a_backend_named_in_the_settings_is_asked(start):
    bridge = start(
        plugins="hindsight-mem-decision-rules",
        DECISION__BACKENDS="rules",
        DECISION__INJECT_GATE="true",
    )
    small = turn(bridge, "ok, thanks")
    assert (small["outcome"], small["reason"]) == ("skipped", "decision-no-inject")
    assert small["blocks"] == []
    assert "8443" in turn(bridge, ASK)["blocks"][0]["text"]
    assert [(s["backend"], s["status"]) for s in spans(bridge)] == [
        ("rules", "skipped"),
        ("rules", "success"),
    ]


async def test_without_a_gate_nobody_is_asked(start):
    bridge = start(plugins="hindsight-mem-decision-rules", DECISION__BACKENDS="rules")
    assert "8443" in turn(bridge, ASK)["blocks"][0]["text"]
    assert spans(bridge) == []


@pytest.mark.spec("s1/S-DEC-6")
async def test_ones_own_policy_comes_before_the_backends(start):
    bridge = start(
        plugins="hindsight-mem-decision-rules,hindsight-mem-decision-policy",
        DECISION__BACKENDS="rules",
        DECISION__INJECT_GATE="true",
    )
    assert turn(bridge, f"confidential: {ASK}")["reason"] == "decision-no-inject"
    assert "8443" in turn(bridge, ASK)["blocks"][0]["text"]
    assert [s["backend"] for s in spans(bridge)] == ["hindsight_decide", "rules"]


@pytest.mark.spec("s1/S-DEC-11")
async def test_a_task_reader_tells_a_decision_what_is_open(start):
    def complete(params):
        return {"text": json.dumps({"answers": {"inject": False}}), "model": "x/y"}

    bridge = start(
        plugins="hindsight-mem-task-reader-boxes",
        answers={"host/complete": complete, "host/models": lambda params: {"models": []}},
        DECISION__INJECT_GATE="true",
    )
    tasks = [{"title": "plant the beans", "open": True}, {"title": "dig", "open": False}]
    record = {"name": "box-tasks", "data": {"tasks": tasks}}
    entries = [{"id": "r1", "role": "host", "parts": [], "synthetic": True, "record": record}]
    assert turn(bridge, "go on with it", entries)["reason"] == "decision-no-inject"
    asked = [params for method, params in bridge.asked if method == "host/complete"]
    assert [params["stage"] for params in asked] == ["decision/route"]
    prompt = asked[0]["messages"][0]["content"]
    assert "--- open tasks ---\n- plant the beans\n---" in prompt
    assert "dig" not in prompt


async def test_a_backend_that_nobody_provides_is_named_and_costs_nothing_else(start, tmp_path):
    env = {"DECISION__BACKENDS": "rules", "DECISION__INJECT_GATE": "true"}
    with pytest.raises(AssertionError, match="no decision backend named 'rules'"):
        start(plugins="", **env)
