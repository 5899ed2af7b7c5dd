"""Real agent programs, offline, each test with a home of its own."""

from __future__ import annotations

import json
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.testing.agent_server import AgentServer, texts
from hindsight_core.testing.terminal import NoTmux, Terminal

PI = ("@earendil-works/pi-coding-agent@1.6.0", "node@22")
OMP = ("@oh-my-pi/pi-coding-agent@18.2.3", "bun@1.4.5")
OMP_CONFIG = """\
# mine
modelRoles: {default: stub/stub, smol: stub/stub}
startup: {checkUpdate: false, setupWizard: false}
disabledProviders: [ollama, llama.cpp, lm-studio, charm-hyper]
compaction: {keepRecentTokens: 40}
"""
MODEL = {
    "reasoning": False,
    "input": ["text"],
    "contextWindow": 200_000,
    "maxTokens": 2_048,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
}
START_S = 60


def _hosts() -> Path:
    configured = os.environ.get("HINDSIGHT_MEM_TEST_HOSTS")
    return Path(configured or Path(__file__).parents[2] / ".ci/cache/hosts")


# The environment is emptied of our names for each test, so this is read before.
HOSTS = _hosts()


def npm_installed(name: str, packages: Sequence[str], *, needed: Sequence[str]) -> list[Path]:
    """Files of npm packages in a folder of their own; skips where they cannot be installed."""
    folder = HOSTS / name
    paths = [folder / "node_modules" / path for path in needed]
    if not all(path.exists() for path in paths):
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip(f"{name} cannot be installed here: there is no npm")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        done = subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", *packages],
            cwd=folder, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        if done.returncode:
            pytest.skip(f"{name} cannot be installed here: {done.stderr[-300:]}")
    return paths


@pytest.fixture(scope="session")
def pi_program() -> tuple[str, str]:
    """Node and pi's entry file."""
    entry = "@earendil-works/pi-coding-agent/dist/bundle/cli.js"
    node, cli = npm_installed("pi", PI, needed=["node/bin/node", entry])
    return str(node), str(cli)


@pytest.fixture(scope="session")
def omp_program() -> tuple[str, str]:
    """Bun and omp's entry file."""
    entry = "@oh-my-pi/pi-coding-agent/dist/cli.js"
    bun, cli = npm_installed("omp", OMP, needed=["bun/bin/bun.exe", entry])
    return str(bun), str(cli)


class Agent:
    """A terminal agent of pi's kind with a home, a project and a model server of its own."""

    name = ""
    models = ""
    settled = ""

    def __init__(self, program: tuple[str, str], folder: Path, server: AgentServer) -> None:
        self.program = program
        self.server = server
        self.home = folder / "home"
        self.agent = folder / "agent"
        self.project = folder / "proj"
        self.memory = folder / "memory"
        for path in (self.home, self.agent, self.project / ".git"):
            path.mkdir(parents=True)
        provider = {
            "baseUrl": server.url,
            "apiKey": "k",
            "api": "openai-completions",
            "models": [{"id": "stub", "name": "Stub", **MODEL}],
        }
        # JSON is YAML too.
        (self.agent / self.models).write_text(json.dumps({"providers": {"stub": provider}}))
        self.settings = self.configured()
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("HINDSIGHT_")},
            "HOME": str(self.home),
            "PATH": f"{Path(program[0]).parent}:{os.environ['PATH']}",
            "PI_CODING_AGENT_DIR": str(self.agent),
            "HINDSIGHT_MEM_HOME": str(self.memory),
            **self.switches(),
        }

    def configured(self) -> Path:
        """The settings file, written as a user has it."""
        raise NotImplementedError

    def switches(self) -> dict[str, str]:
        """Variables that keep it offline."""
        raise NotImplementedError

    def mem(self, *arguments: str, code: int = 0) -> str:
        """Run ``hindsight-mem``; its stdout."""
        done = subprocess.run(
            [sys.executable, "-m", "hindsight_core", *arguments],
            cwd=self.project, env=self.env, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The agent's program, to its end."""
        done = subprocess.run(
            [*self.program, *arguments],
            cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done

    def say(self, *arguments: str) -> str:
        """One run with ``-p``; what it printed."""
        return self.run(*arguments).stdout

    def rpc(self, *arguments: str) -> Rpc:
        """A process in the mode ``rpc``."""
        command = [*self.program, "--mode", "rpc", *arguments]
        return Rpc(command, cwd=self.project, env=self.env, settled=self.settled)

    def ask(self, prompt: str) -> Any:
        """One prompt to a session that memory is ready in; the last request to the model."""
        rpc = self.rpc().ready()
        rpc.prompt(prompt)
        assert rpc.close() == 0
        return self.server.conversation()[-1]

    def session_files(self) -> list[Path]:
        """What it wrote about its sessions."""
        return sorted((self.agent / "sessions").rglob("*.jsonl"))

    def facts(self) -> list[str]:
        """Texts of the bank's facts."""
        listed = json.loads(self.mem("facts", "list", "--json", "--limit", "500"))
        return [fact["text"] for fact in listed["facts"]]

    def learn(self, *facts: str) -> None:
        """Put facts into the project's bank."""
        file = self.project.parent / "facts.jsonl"
        file.write_text("".join(json.dumps({"text": fact}) + "\n" for fact in facts))
        self.mem("bank", "import", str(file))


class Pi(Agent):
    """pi."""

    name = "pi"
    models = "models.json"
    settled = "agent_settled"

    def configured(self) -> Path:
        """``settings.json``."""
        settings = self.agent / "settings.json"
        compaction = {"keepRecentTokens": 40}
        stub = {"defaultProvider": "stub", "defaultModel": "stub", "compaction": compaction}
        settings.write_text(json.dumps(stub, indent=2))
        return settings

    def switches(self) -> dict[str, str]:
        """No downloads, no versions."""
        return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}


class Omp(Agent):
    """omp; its session files lie in folders beside those of its sub-agents."""

    name = "omp"
    models = "models.yml"
    settled = "agent_end"

    def configured(self) -> Path:
        """``config.yml``."""
        settings = self.agent / "config.yml"
        settings.write_text(OMP_CONFIG)
        return settings

    def switches(self) -> dict[str, str]:
        """No wizard, no title of a session."""
        return {"OMP_SKIP_SETUP": "1", "PI_NO_TITLE": "1"}


class Rpc:
    """An agent driven over its own RPC mode."""

    def __init__(self, command: list[str], *, cwd: Path, env: dict[str, str], settled: str) -> None:
        self._settled = settled
        self.process = subprocess.Popen(
            command, cwd=cwd, env=env, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.events: list[dict[str, Any]] = []
        self._queue: queue.Queue[dict[str, Any]] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            event = json.loads(line)
            self.events.append(event)
            self._queue.put(event)

    def send(self, **command: object) -> None:
        """One command."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def wait(self, matches: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """The next event that matches."""
        while True:
            try:
                event = self._queue.get(timeout=START_S)
            except queue.Empty:
                raise AssertionError(f"no such event; the last: {self.events[-3:]}") from None
            if matches(event):
                return event

    def prompt(self, message: str) -> None:
        """A prompt, until the agent has done with it."""
        self.send(type="prompt", message=message)
        self.wait(lambda e: e.get("type") == self._settled)

    def command(self, **command: object) -> dict[str, Any]:
        """A command and its response."""
        self.send(**command)
        return self.wait(lambda e: e.get("type") == "response" and e["command"] == command["type"])

    def ready(self) -> Rpc:
        """Memory is there; a busy machine may take longer than a first turn waits."""
        self.wait(lambda e: re.search(r" ready$|^The bank is away", str(e.get("message"))))
        # It is told a moment before the extension has its answer.
        time.sleep(0.1)
        return self

    def until_stored(self, agent: Agent, words: str) -> None:
        """What goes on in the background is done some time."""
        end = time.monotonic() + START_S
        while not any(words in fact for fact in agent.facts()):
            assert time.monotonic() < end, f"nothing with {words!r} was stored"

    def notices(self) -> list[str]:
        """What was told to the person."""
        return [e["message"] for e in self.events if e.get("method") == "notify"]

    def close(self) -> int:
        """End of input; the exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        code = self.process.wait(timeout=START_S)
        self._done()
        return code

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.wait()
        self._done()

    def _done(self) -> None:
        self._reader.join(timeout=5)
        assert self.process.stdout
        self.process.stdout.close()
        assert self.process.stdin
        if not self.process.stdin.closed:
            self.process.stdin.close()


@pytest.fixture
def server(loopback: None) -> Iterator[AgentServer]:
    """The agent's model: it finds what the user asked to remember, and helps with nothing else."""
    script = {
        "": "Understood.",
        "memorize/extract": remembered,
        "memorize/verify": {"keep": list(range(1, 51))},
        "memorize/topics": {"queries": []},
        "memorize/dedup": {"known": [], "updates": []},
        "memorize/summary": "The user told what to remember.",
        "*": "NONE",
    }
    with AgentServer(script) as running:
        yield running


def remembered(request: Any) -> object:
    """The facts of a transcript: each thing that was to be remembered."""
    found = re.findall(r"Remember that (.+?\.)", "\n".join(texts(request)))
    facts = [{"text": text, "category": "facts"} for text in dict.fromkeys(found)]
    return {"facts": facts}


@pytest.fixture
def pi(pi_program: tuple[str, str], tmp_path: Path, server: AgentServer) -> Pi:
    """pi, configured for the model server, memory not installed yet."""
    return Pi(pi_program, tmp_path, server)


@pytest.fixture
def omp(omp_program: tuple[str, str], tmp_path: Path, server: AgentServer) -> Omp:
    """omp, configured for the model server, memory not installed yet."""
    return Omp(omp_program, tmp_path, server)


@pytest.fixture
def in_terminal() -> Iterator[Callable[..., Terminal]]:
    """Starts programs in terminals of their own, and ends them."""
    running: list[Terminal] = []

    def start(command: list[str], **given: Any) -> Terminal:
        try:
            running.append(Terminal(command, **given))
        except NoTmux as error:
            pytest.skip(str(error))
        return running[-1]

    yield start
    for terminal in running:
        terminal.close()


Start = Callable[..., Terminal]


def _screen(agent: Agent, in_terminal: Start) -> Start:
    agent.mem("install", agent.name)

    def start(*arguments: str, size: tuple[int, int] = (100, 34)) -> Terminal:
        command = [*agent.program, *arguments]
        return in_terminal(command, cwd=agent.project, env=agent.env, size=size)

    return start


@pytest.fixture
def pi_screen(pi: Pi, in_terminal: Start) -> Start:
    """pi as a person sees it, with memory installed."""
    return _screen(pi, in_terminal)


@pytest.fixture
def omp_screen(omp: Omp, in_terminal: Start) -> Start:
    """omp as a person sees it, with memory installed."""
    return _screen(omp, in_terminal)
