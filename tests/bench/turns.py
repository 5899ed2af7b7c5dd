"""What memory adds to a turn of real agents with an instant model, on against off, as a table.

usage: python tests/bench/turns.py HOSTS [--turns 40] [--only pi,omp,opencode,claude-code]

HOSTS is the folder into which the tests install agents (``.ci/cache/hosts`` after a run of them);
an agent that is not there is skipped. pi, omp and opencode stay alive between turns, a turn of
Claude Code is a process of its own with its hooks. Both kinds of turn take place in alternation.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from hindsight_core.testing.agent_server import AgentServer
from hindsight_core.testing.cli_agents import CliAgentServer

E2E = Path(__file__).parents[1] / "e2e"
FACT = "The API gateway listens on port 8443 behind nginx."
WARM = 2
REST_S = 0.3
Say = Callable[[str], object]
Start = Callable[..., AbstractContextManager[Say]]


@cache
def conftest(folder: str) -> Any:
    """How the end-to-end tests run an agent."""
    path = E2E / folder / "conftest.py"
    spec = importlib.util.spec_from_file_location(f"e2e_{folder or 'pi'}", path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def of_pis_kind(kind: str, entry: str, runtime: str) -> Start:
    """pi and omp, by their RPC mode; ``runtime`` is the program that runs the entry file."""

    @contextmanager
    def start(hosts: Path, folder: Path, *, memory: bool) -> Iterator[Say]:
        name = kind.lower()
        modules = hosts / name / "node_modules"
        program = (str(present(modules / runtime)), str(present(modules / entry)))
        with AgentServer({"*": "Understood."}) as server:
            agent = getattr(conftest(""), kind)(program, folder, server)
            agent.env["HINDSIGHT_MEM_MODELS__PROVIDER"] = "none"
            if memory:
                agent.mem("install", name)
                agent.learn(FACT)
            rpc = agent.rpc()
            yield rpc.prompt
            rpc.close()
            if memory and FACT not in str(server.conversation()[-1].body):
                raise AssertionError(f"{name} did not show the fact to its model")

    return start


@contextmanager
def opencode(hosts: Path, folder: Path, *, memory: bool) -> Iterator[Say]:
    program = present(hosts / "opencode/node_modules/opencode-ai/bin/opencode.exe")
    with AgentServer({"*": "Understood."}) as server:
        agent = conftest("opencode").Opencode(str(program), folder, server)
        agent.env["HINDSIGHT_MEM_MODELS__PROVIDER"] = "none"
        if memory:
            agent.install()
            agent.env["HINDSIGHT_MEM_BANK__ID"] = "shop"
            agent.learn("shop", FACT)
        agent.serve()
        session = agent.session()
        yield lambda text: agent.say(session, text)
        agent.stop()


@contextmanager
def claude_code(hosts: Path, folder: Path, *, memory: bool) -> Iterator[Say]:
    program = present(hosts / "claude-code/node_modules/.bin/claude")
    with CliAgentServer() as server:
        agent = conftest("agents").CliAgent(
            "claude-code", program=str(program), folder=folder, server=server
        )
        del agent.env["HINDSIGHT_MEM_DAEMON"]
        agent.env["HINDSIGHT_MEM_MODELS__PROVIDER"] = "none"
        if memory:
            agent.mem("install", "claude-code")
        yield agent.say
        if memory:
            os.kill(int((agent.memory / "daemon.lock").read_text()), signal.SIGTERM)


HOSTS: dict[str, Start] = {
    "pi": of_pis_kind("Pi", "@earendil-works/pi-coding-agent/dist/bundle/cli.js", "node/bin/node"),
    "omp": of_pis_kind("Omp", "@oh-my-pi/pi-coding-agent/dist/cli.js", "bun/bin/bun.exe"),
    "opencode": opencode,
    "claude-code": claude_code,
}


def present(path: Path) -> Path:
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there")
    return path


def measure(name: str, hosts: Path, turns: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each warm turn, without memory and with it."""
    times: tuple[list[float], list[float]] = ([], [])
    with tempfile.TemporaryDirectory() as top:
        folders = [Path(top) / "off", Path(top) / "on"]
        for folder in folders:
            folder.mkdir()
        with (
            HOSTS[name](hosts, folders[0], memory=False) as plain,
            HOSTS[name](hosts, folders[1], memory=True) as remembering,
        ):
            for turn in range(turns + WARM):
                for found, say in zip(times, (plain, remembering), strict=True):
                    # What an agent does behind a turn is not part of the next one.
                    time.sleep(REST_S)
                    started = time.perf_counter()
                    say(f"What about item {turn} of the API gateway?")
                    if turn >= WARM:
                        found.append((time.perf_counter() - started) * 1000)
    return times


def main() -> int:
    """Measure and print a markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hosts", type=Path)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--only", default=",".join(HOSTS))
    options = parser.parse_args()
    print(
        "| a turn | off, median ms | on, median ms | on, p95 ms | added ms |\n" + "|---" * 5 + "|"
    )
    for name in options.only.split(","):
        try:
            off, on = measure(name, options.hosts.absolute(), options.turns)
        except FileNotFoundError as missing:
            print(f"| {name} | skipped: {missing} | | | |")
            continue
        late = sorted(on)[int(len(on) * 0.95)]
        middles = statistics.median(off), statistics.median(on)
        cells = f"{middles[0]:.1f} | {middles[1]:.1f} | {late:.1f} | {middles[1] - middles[0]:.1f}"
        print(f"| {name} | {cells} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
