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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.testing.agent_server import AgentServer, texts
from hindsight_core.testing.terminal import NoTmux, Terminal

PI = ("@earendil-works/pi-coding-agent@1.6.0", "node@22")
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


@pytest.fixture(scope="session")
def pi_program() -> tuple[str, str]:
    """Node and pi's entry file; skips where pi cannot be installed."""
    folder = HOSTS / "pi"
    node = folder / "node_modules/node/bin/node"
    entry = folder / "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js"
    if not (node.exists() and entry.exists()):
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("pi cannot be installed here: there is no npm")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        done = subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", *PI],
            cwd=folder, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        if done.returncode:
            pytest.skip(f"pi cannot be installed here: {done.stderr[-300:]}")
    return str(node), str(entry)


class Pi:
    """pi with a home, a project and a model server of its own."""

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
        (self.agent / "models.json").write_text(json.dumps({"providers": {"stub": provider}}))
        self.settings = self.agent / "settings.json"
        self.settings.write_text(
            json.dumps(
                {
                    "defaultProvider": "stub",
                    "defaultModel": "stub",
                    "compaction": {"keepRecentTokens": 40},
                },
                indent=2,
            )
        )
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("HINDSIGHT_")},
            "HOME": str(self.home),
            "PATH": f"{Path(program[0]).parent}:{os.environ['PATH']}",
            "PI_CODING_AGENT_DIR": str(self.agent),
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "PI_SKIP_VERSION_CHECK": "1",
            "HINDSIGHT_MEM_HOME": str(self.memory),
        }

    def mem(self, *arguments: str, code: int = 0) -> str:
        """Run ``hindsight-mem``; its stdout."""
        done = subprocess.run(
            [sys.executable, "-m", "hindsight_core", *arguments],
            cwd=self.project, env=self.env, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout

    def say(self, *arguments: str) -> str:
        """One ``pi -p`` run; what it printed."""
        done = subprocess.run(
            [*self.program, *arguments],
            cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def rpc(self, *arguments: str) -> Rpc:
        """A ``pi --mode rpc`` process."""
        return Rpc([*self.program, "--mode", "rpc", *arguments], cwd=self.project, env=self.env)

    def session_files(self) -> list[Path]:
        """What pi wrote about its sessions."""
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


class Rpc:
    """pi driven over its own RPC mode."""

    def __init__(self, command: list[str], *, cwd: Path, env: dict[str, str]) -> None:
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

    def wait(self, matches: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next event that matches."""
        while True:
            try:
                event = self._queue.get(timeout=START_S)
            except queue.Empty:
                raise AssertionError(f"no such event; the last: {self.events[-3:]}") from None
            if matches(event):
                return event

    def prompt(self, message: str) -> None:
        """A prompt, until the agent has settled."""
        self.send(type="prompt", message=message)
        self.wait(lambda e: e.get("type") == "agent_settled")

    def command(self, **command: object) -> dict[str, Any]:
        """A command and its response."""
        self.send(**command)
        return self.wait(lambda e: e.get("type") == "response" and e["command"] == command["type"])

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


@pytest.fixture
def pi_screen(pi: Pi, in_terminal: Callable[..., Terminal]) -> Callable[..., Terminal]:
    """pi as a person sees it, with memory installed."""
    pi.mem("install", "pi")

    def start(*arguments: str, size: tuple[int, int] = (100, 34)) -> Terminal:
        command = [*pi.program, *arguments]
        return in_terminal(command, cwd=pi.project, env=pi.env, size=size)

    return start
