"""Claude Code, Codex and Gemini CLI, offline, each test with a home of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from hindsight_core.testing.cli_agents import CliAgentServer

PACKAGES = {
    "claude-code": "@anthropic-ai/claude-code@2.1.197",
    "codex": "@openai/codex@0.171.0",
    "gemini": "@google/gemini-cli@0.61.0",
}
PROGRAMS = {"claude-code": "claude", "codex": "codex", "gemini": "gemini"}
# The environment is emptied of our names for each test, so this is read before.
HOSTS = Path(
    os.environ.get("HINDSIGHT_MEM_TEST_HOSTS")
    or Path(__file__).parents[3] / ".ci/cache/hosts"
)  # fmt: skip


@pytest.fixture(scope="session")
def program() -> Callable[[str], str]:
    """The path of an agent's program; skips where it cannot be installed."""

    def installed(name: str) -> str:
        folder = HOSTS / name
        path = folder / "node_modules/.bin" / PROGRAMS[name]
        if not path.exists():
            npm = shutil.which("npm")
            if npm is None:
                pytest.skip(f"{name} cannot be installed here: there is no npm")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "package.json").write_text('{"private": true}')
            done = subprocess.run(
                [npm, "install", "--no-audit", "--no-fund", PACKAGES[name]],
                cwd=folder, capture_output=True, text=True, timeout=600, check=False,
            )  # fmt: skip
            if done.returncode or not path.exists():
                pytest.skip(f"{name} cannot be installed here: {done.stderr[-300:]}")
        return str(path)

    return installed


class CliAgent:
    """One agent program in a home of its own, whose model is a `CliAgentServer`."""

    def __init__(self, name: str, *, program: str, folder: Path, server: CliAgentServer) -> None:
        self.name = name
        self.server = server
        self.home = folder / "home"
        self.project = folder / "shop"
        self.memory = folder / "memory"
        self.program = program
        for path in (self.home, self.project / ".git"):
            path.mkdir(parents=True)
        keep = ("PATH", "LANG", "TMPDIR", "PYTHONPATH")
        self.env = {
            **{k: v for k, v in os.environ.items() if k in keep},
            "HOME": str(self.home),
            "PWD": str(self.project),
            "CI": "1",
            "HINDSIGHT_MEM_HOME": str(self.memory),
            # A test of the daemon takes this out and ends the daemon itself.
            "HINDSIGHT_MEM_DAEMON": "off",
            **ENVIRONMENTS[name](server),
        }
        for file, text in CONFIGURATIONS[name](self).items():
            (self.home / file).parent.mkdir(parents=True, exist_ok=True)
            (self.home / file).write_text(text)

    def mem(self, *arguments: str, code: int = 0) -> str:
        """Run ``hindsight-mem``; its stdout."""
        done = subprocess.run(
            [sys.executable, "-m", "hindsight_core", *arguments],
            cwd=self.project, env=self.env, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout

    def say(self, prompt: str) -> str:
        """One session in print mode; what it printed."""
        done = subprocess.run(
            [self.program, *ARGUMENTS[self.name], prompt],
            cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
        return done.stdout

    def daemon(self) -> int | None:
        """The process that answers this home's hooks."""
        try:
            pid = int((self.memory / "daemon.lock").read_text())
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        return pid if b"hindsight_core.daemon" in command else None

    def facts(self) -> list[str]:
        """Texts of the bank's valid facts."""
        listed = json.loads(self.mem("facts", "list", "--json", "--limit", "500"))
        return [fact["text"] for fact in listed["facts"]]

    def seen(self) -> str:
        """Everything that went to the model's server."""
        return json.dumps([request.body for request in self.server.requests], ensure_ascii=False)


ARGUMENTS = {
    "claude-code": (
        "--model", "claude-sonnet-4-5", "--output-format", "json",
        "--dangerously-skip-permissions", "-p",
    ),
    "codex": (
        "exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access",
        "--dangerously-bypass-hook-trust",
    ),
    "gemini": ("-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p"),
}  # fmt: skip


def _claude_env(server: CliAgentServer) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": server.address,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "IS_SANDBOX": "1",
    }


def _codex_env(server: CliAgentServer) -> Mapping[str, str]:
    return {"STUB_KEY": "none"}


def _gemini_env(server: CliAgentServer) -> Mapping[str, str]:
    return {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": server.address,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_SANDBOX": "false",
    }


ENVIRONMENTS = {"claude-code": _claude_env, "codex": _codex_env, "gemini": _gemini_env}


def _claude_files(agent: CliAgent) -> Mapping[str, str]:
    trusted = {str(agent.project): {"hasTrustDialogAccepted": True}}
    state = {"hasCompletedOnboarding": True, "projects": trusted}
    return {
        ".claude.json": json.dumps(state, indent=2),
        ".claude/settings.json": '{\n  "includeCoAuthoredBy": false\n}\n',
    }


def _codex_files(agent: CliAgent) -> Mapping[str, str]:
    return {
        ".codex/config.toml": f"""# mine
model = "stub-model"
model_provider = "stub"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.stub]
name = "Stub"
base_url = "{agent.server.url}"
wire_api = "responses"
env_key = "STUB_KEY"
request_max_retries = 2
stream_max_retries = 0

[features]
apps = false
plugins = false

[projects."{agent.project}"]
trust_level = "trusted"
"""
    }


def _gemini_files(agent: CliAgent) -> Mapping[str, str]:
    return {
        ".gemini/settings.json": """{
  // mine
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "general": {"enableAutoUpdate": false},
  "telemetry": {"enabled": false},
  "privacy": {"usageStatisticsEnabled": false}
}
""",
        ".gemini/trustedFolders.json": json.dumps({str(agent.project): "TRUST_FOLDER"}),
    }


CONFIGURATIONS = {"claude-code": _claude_files, "codex": _codex_files, "gemini": _gemini_files}


@pytest.fixture
def model(loopback: None) -> Iterator[CliAgentServer]:
    """The agents' model; set ``reply`` to decide what it says."""
    with CliAgentServer() as server:
        yield server  # type: ignore[misc]


@pytest.fixture(params=PACKAGES)
def agent(
    request: pytest.FixtureRequest,
    program: Callable[[str], str],
    tmp_path: Path,
    model: CliAgentServer,
) -> CliAgent:
    """Each agent in turn, memory not installed yet."""
    name = request.param
    return CliAgent(name, program=program(name), folder=tmp_path, server=model)


@pytest.fixture
def resident(agent: CliAgent) -> Iterator[CliAgent]:
    """The agent with its hooks answered by a daemon, which ends with the test."""
    del agent.env["HINDSIGHT_MEM_DAEMON"]
    agent.env["HINDSIGHT_MEM_DAEMON_IDLE_S"] = "60"
    yield agent
    if (pid := agent.daemon()) is not None:
        os.kill(pid, signal.SIGTERM)
