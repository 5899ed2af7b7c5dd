"""opencode itself, offline: by its server, its `run`, and its terminal."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.testing.agent_server import AgentServer, texts

OPENCODE = "opencode-ai@1.18.33"
START_S = 90
Json = dict[str, Any]


def _hosts() -> Path:
    configured = os.environ.get("HINDSIGHT_MEM_TEST_HOSTS")
    return Path(configured or Path(__file__).parents[3] / ".ci/cache/hosts")


# The environment is emptied of our names for each test, so this is read before.
HOSTS = _hosts()


@pytest.fixture(scope="session")
def opencode_program() -> str:
    """opencode's binary; skips where it cannot be installed."""
    folder = HOSTS / "opencode"
    program = folder / "node_modules/opencode-ai/bin/opencode.exe"
    if not program.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("opencode cannot be installed here: there is no npm")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        done = subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", OPENCODE],
            cwd=folder, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        if done.returncode or not program.exists():
            pytest.skip(f"opencode cannot be installed here: {done.stderr[-300:]}")
    return str(program)


class Opencode:
    """opencode with a home, a project and a model server of its own; memory is installed."""

    def __init__(self, program: str, folder: Path, server: AgentServer) -> None:
        self.program = program
        self.server = server
        self.folder = folder
        self.memory = folder / "memory"
        self.project = folder / "proj"
        self.config_dir = folder / "home/.config/opencode"
        for path in (self.project, self.config_dir):
            path.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        self.process: subprocess.Popen[bytes] | None = None
        self.port = 0
        home = folder / "home"
        outside = ("XDG_", "OPENCODE_", "HINDSIGHT_")
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(outside)},
            "HOME": str(home),
            # opencode trusts it more than the folder that it is started in
            "PWD": str(self.project),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local/share"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "XDG_STATE_HOME": str(home / ".local/state"),
            **{f"OPENCODE_DISABLE_{name}": "1" for name in
               ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE", "DEFAULT_PLUGINS")},
            "npm_config_offline": "true",
            "HINDSIGHT_MEM_HOME": str(self.memory),
        }  # fmt: skip
        self.file = self.config_dir / "opencode.json"
        self.file.write_text(json.dumps(self._settings(), indent=2))

    def _settings(self) -> Json:
        models = {"stub": {"limit": {"context": 100_000, "output": 4_096}}}
        options = {"baseURL": self.server.url, "apiKey": "k"}
        return {
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
            "permission": {"*": "allow"},
            "model": "stub/stub",
            "small_model": "stub/stub",
            "enabled_providers": ["stub"],
            "provider": {
                "stub": {"npm": "@ai-sdk/openai-compatible", "options": options, "models": models}
            },
        }

    def install(self, *, options: Json | None = None, agents: Json | None = None) -> None:
        """``hindsight-mem install opencode``, then what a user may write."""
        self.mem("install", "opencode")
        settings = json.loads(self.file.read_text())
        if options is not None:
            settings["plugin"] = [[settings["plugin"][0], options]]
        if agents is not None:
            blocks = {name: {"options": {"hindsight": b}} for name, b in agents.items()}
            settings["agent"] = blocks
        self.file.write_text(json.dumps(settings))

    def mem(self, *arguments: str) -> str:
        """Run ``hindsight-mem``; its stdout."""
        done = subprocess.run(
            [sys.executable, "-m", "hindsight_core", *arguments],
            cwd=self.project, env=self.env, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def learn(self, bank: str, *facts: str) -> None:
        """Put facts into a bank."""
        file = self.folder / "facts.jsonl"
        file.write_text("".join(json.dumps({"text": fact}) + "\n" for fact in facts))
        self.mem("bank", "import", str(file), "--bank", bank)

    def documents(self, bank: str) -> dict[str, str]:
        """Texts of a bank's documents by id."""
        listed = json.loads(self.mem("documents", "list", "--bank", bank, "--json"))["documents"]
        return {d["id"]: self.mem("documents", "show", d["id"], "--bank", bank) for d in listed}

    def is_on_disk(self, words: str) -> bool:
        """Whether the journal or the queue holds something that was said."""
        files = self.memory.glob("queue.db*")
        return any(words.encode() in file.read_bytes() for file in files)

    def run(self, prompt: str, *arguments: str) -> str:
        """One ``opencode run``; what it printed."""
        done = subprocess.run(
            [self.program, "run", "--format", "json", *arguments],
            cwd=self.project, env=self.env, input=prompt,
            capture_output=True, text=True, timeout=START_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def serve(self) -> None:
        """``opencode serve`` on a port of its own, until it answers."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        with (self.folder / "serve.log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--port", str(self.port), "--print-logs"],
                cwd=self.project, env=self.env, stdout=log, stderr=log,
            )  # fmt: skip
        self.until(self._answers)

    def _answers(self) -> bool:
        try:
            # A request that comes while it starts may never be answered.
            self.api("GET", "/session", timeout_s=2)
        except OSError:
            return False
        return True

    def api(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        directory: str = "",
        timeout_s: float = START_S,
    ) -> Any:
        """One request to the server; its JSON."""
        headers = {"content-type": "application/json"}
        if directory:
            headers["x-opencode-directory"] = directory
        data = None if body is None else json.dumps(body).encode()
        url = f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, method=method, headers=headers, data=data)
        with urllib.request.urlopen(request, timeout=timeout_s) as answer:
            raw = answer.read()
        return json.loads(raw) if raw else None

    def session(self, *, directory: str = "", **info: object) -> str:
        """A new session's id."""
        made: str = self.api("POST", "/session", info, directory=directory)["id"]
        return made

    def say(
        self, session: str, text: str, *, agent: str | None = None, directory: str = ""
    ) -> list[Any]:
        """A prompt, until it is answered; the agent's own requests for it."""
        before = len(self.server.requests)
        body: Json = {"parts": [{"type": "text", "text": text}]}
        if agent:
            body["agent"] = agent
        self.api("POST", f"/session/{session}/message", body, directory=directory)
        return [r for r in self.server.requests[before:] if r.body.get("tools")]

    def bridges(self) -> list[int]:
        """Processes of ours below the server."""
        assert self.process
        listed = subprocess.run(
            ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(self.process.pid)],
            capture_output=True, text=True, check=False,
        ).stdout  # fmt: skip
        ours = [li for li in listed.splitlines() if "hindsight" in li and "bridge" in li]
        return [int(line.split()[0]) for line in ours]

    def log(self) -> list[str]:
        """Lines of ours in opencode's log."""
        lines = (self.folder / "serve.log").read_text(errors="replace").splitlines()
        return [line for line in lines if "emory" in line or "hindsight" in line]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the server."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(timeout=START_S)
            self.process = None

    def until(self, holds: Callable[[], object]) -> None:
        """What goes on in the background is done some time."""
        end = time.monotonic() + START_S
        while not holds():
            assert time.monotonic() < end, "it did not come"
            time.sleep(0.05)


def memory_of(request: Any) -> str:
    """Everything of memory's in a request to the model, its tools left out."""
    return "\n".join(text for text in texts(request) if "hindsight-memory" in text)


@pytest.fixture
def recalled() -> Callable[[Any], str]:
    """What a request to the model holds of memory."""
    return memory_of


@pytest.fixture
def opencode(opencode_program: str, tmp_path: Path, server: AgentServer) -> Iterator[Opencode]:
    """opencode, configured for the model server, memory not installed yet."""
    host = Opencode(opencode_program, tmp_path, server)
    yield host
    host.stop(signal.SIGKILL)
