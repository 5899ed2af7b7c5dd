"""Each agent's wiring: what is written, what stays, and that it can neither fail nor veto."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hindsight_host_generic import hosts
from hindsight_host_generic.agents import AGENTS
from hindsight_host_generic.hosts import WiredHost

from hindsight_core.errors import ConfigError
from hindsight_core.host import DetectableHost, InstallRequest, program
from hindsight_core.testing.hosts import carry_out

ALL = (hosts.claude_code, hosts.codex, hosts.gemini, hosts.cursor, hosts.copilot)
HOOKS = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
    "copilot": ".copilot/hooks/hindsight-memory.json",
}
SERVERS = {
    "claude-code": ".claude.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/mcp.json",
    "copilot": ".copilot/mcp-config.json",
}
COMMENTED = """{
  // what I like
  "theme": "dark", /* always */
  "hooks": {
    "Stop": [
      { "hooks": [ { "type": "command", "command": "say done" } ] } // mine
    ]
  },
  "mcpServers": { "other": { "command": "other-server" } },
}
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def request_(home: Path, tmp_path: Path) -> InstallRequest:
    return InstallRequest(
        env={"HOME": str(home), "PATH": str(tmp_path)},
        shims=tmp_path / "shims",
        command=("python", "-m", "hindsight_core", "bridge"),
        bridge_env={"HINDSIGHT_MEM_HOME": "/somewhere/my memory"},
        program=("/opt/python", "-m", "hindsight_core"),
        hook_program=("/opt/python", "-c", "import hindsight_core as h; h()"),
        skill=lambda server: f"---\nname: hindsight-memory\n---\nserver {server}",
    )


def hook_entries(host: WiredHost, home: Path) -> dict[str, list[Any]]:
    table = json.loads((home / HOOKS[host.name]).read_text())
    found: dict[str, list[Any]] = table["hooks"]
    return found


def commands(found: object) -> list[str]:
    """Every string that looks like a command of ours, however deep."""
    if isinstance(found, dict):
        return [c for value in found.values() for c in commands(value)]
    if isinstance(found, list):
        return [c for value in found for c in commands(value)]
    return [found] if isinstance(found, str) and "hindsight_core" in found else []


def files(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_every_event_of_the_agent_is_wired_once(host, home, request_):
    carry_out(host.install(request_))

    found = hook_entries(host, home)
    assert list(found) == [event.name for event in AGENTS[host.name].events]
    for event, entries in found.items():
        [command] = commands(entries)
        assert command == (
            "HINDSIGHT_MEM_HOME='/somewhere/my memory' /opt/python -c 'import hindsight_core as h; "
            f"h()' hook {host.name} {event} 2>/dev/null || true"
        )


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
@pytest.mark.spec("br/BR-31")
def test_hooks_that_an_earlier_version_started_otherwise_are_replaced(host, home, request_):
    earlier = replace(request_, hook_program=("/old venv/bin/hindsight-mem",))
    carry_out(host.install(earlier))
    carry_out(host.install(request_))

    found = commands(hook_entries(host, home))
    assert len(found) == len(AGENTS[host.name].events)
    assert "/old venv" not in (home / HOOKS[host.name]).read_text()


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_the_mcp_server_is_wired_and_not_required(host, home, request_):
    carry_out(host.install(request_))

    text = (home / SERVERS[host.name]).read_text()
    table: Any = tomllib.loads(text) if host.name == "codex" else json.loads(text)
    [(name, entry)] = (table.get("mcpServers") or table["mcp_servers"]).items()
    assert name == "hindsight"
    assert entry["command"] == "/opt/python"
    assert entry["args"] == ["-m", "hindsight_core", "mcp", "--host", host.name]
    assert entry["env"] == {"HINDSIGHT_MEM_HOME": "/somewhere/my memory"}
    assert "required" not in entry and "trust" not in entry


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_the_skill_names_the_server_and_goes_again(host, home, request_):
    carry_out(host.install(request_))
    folder = home / HOOKS[host.name].split("/")[0] / "skills" / "hindsight-memory"

    assert (folder / "SKILL.md").read_text().endswith("server hindsight\n")
    carry_out(host.uninstall(request_))
    assert not (folder / "SKILL.md").exists()


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_a_hook_of_a_package_that_is_gone_says_nothing_and_succeeds(host, home, request_):
    carry_out(host.install(request_))

    for command in commands(hook_entries(host, home)):
        done = subprocess.run(
            ["sh", "-c", command], input="{}", capture_output=True, text=True, timeout=20
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_units_of_time_are_the_agents_own(home, request_):
    for host in (hosts.claude_code, hosts.codex, hosts.gemini, hosts.copilot):
        carry_out(host.install(request_))

    assert hook_entries(hosts.claude_code, home)["UserPromptSubmit"][0]["hooks"][0]["timeout"] == 30
    assert hook_entries(hosts.codex, home)["SessionEnd"][0]["hooks"][0]["timeout"] == 3
    assert hook_entries(hosts.gemini, home)["BeforeAgent"][0]["hooks"][0]["timeout"] == 30_000
    assert hook_entries(hosts.copilot, home)["userPromptTransformed"][0]["timeoutSec"] == 30


def test_comments_order_and_foreign_entries_stay(home, request_):
    settings = home / ".gemini/settings.json"
    settings.parent.mkdir()
    settings.write_text(COMMENTED)

    carry_out(hosts.gemini.install(request_))
    written = settings.read_text()
    carry_out(hosts.gemini.uninstall(request_))

    for kept in ("// what I like", "/* always */", "// mine", "other-server", '"say done"'):
        assert kept in written
    assert written.index("theme") < written.index("hooks") < written.index("mcpServers")
    assert settings.read_text() == COMMENTED


def test_toml_comments_and_order_stay(home, request_):
    config = home / ".codex/config.toml"
    config.parent.mkdir()
    before = '# mine\nmodel = "m" # fast\n\n[mcp_servers.other]\ncommand = "x"\n\n[tui]\n# end\n'
    config.write_text(before)

    carry_out(hosts.codex.install(request_))
    written = config.read_text()
    carry_out(hosts.codex.uninstall(request_))

    assert "# mine" in written and "# fast" in written and "# end" in written
    assert tomllib.loads(written)["mcp_servers"]["other"] == {"command": "x"}
    assert config.read_text() == before


def test_a_hook_of_ours_beside_a_foreign_one_is_taken_out_alone(home, request_):
    carry_out(hosts.claude_code.install(request_))
    settings = home / HOOKS["claude-code"]
    table = json.loads(settings.read_text())
    table["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})
    settings.write_text(json.dumps(table, indent=2))

    carry_out(hosts.claude_code.uninstall(request_))

    left = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}
    assert json.loads(settings.read_text()) == left


def test_another_python_replaces_the_commands_and_keeps_what_the_user_added(home, request_):
    carry_out(hosts.codex.install(request_))
    config = home / SERVERS["codex"]
    config.write_text(config.read_text() + "startup_timeout_sec = 30\n")
    new = ("/new", "-m", "hindsight_core")
    moved = InstallRequest(
        env=request_.env, shims=request_.shims, command=(), program=new, hook_program=new
    )

    carry_out(hosts.codex.install(moved))

    entry = tomllib.loads(config.read_text())["mcp_servers"]["hindsight"]
    assert entry["command"] == "/new"
    assert entry["startup_timeout_sec"] == 30
    assert "env" not in entry
    assert entry["env_vars"] == ["HINDSIGHT_MEM_INSIDE"]
    found = hook_entries(hosts.codex, home)
    assert all(command.startswith("/new ") for command in commands(found))
    assert len(commands(found)) == len(AGENTS["codex"].events)
    assert hosts.codex.install(moved).changes == ()


def test_a_foreign_server_of_our_name_is_left_alone(home, request_):
    servers = home / ".claude.json"
    servers.write_text('{"mcpServers": {"hindsight": {"type": "http", "url": "http://mem"}}}')

    carry_out(hosts.claude_code.install(request_))

    table = json.loads(servers.read_text())["mcpServers"]
    assert table["hindsight"] == {"type": "http", "url": "http://mem"}
    assert table["hindsight-mem"]["args"][-3:] == ["mcp", "--host", "claude-code"]
    skill = home / ".claude/skills/hindsight-memory/SKILL.md"
    assert skill.read_text().endswith("server hindsight-mem\n")
    carry_out(hosts.claude_code.uninstall(request_))
    assert list(json.loads(servers.read_text())["mcpServers"]) == ["hindsight"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3),
        ("[]", 1),
        ('{"hooks": []}', 1),
        ('{"hooks": {"Stop": "none"}}', 1),
    ],
)
def test_what_cannot_be_understood_is_named_and_left(home, request_, text, line):
    settings = home / HOOKS["claude-code"]
    settings.parent.mkdir()
    settings.write_text(text)

    with pytest.raises(ConfigError, match=rf"settings\.json, line {line}:"):
        hosts.claude_code.install(request_)

    assert files(home) == {HOOKS["claude-code"]: text}


def test_toml_that_cannot_be_parsed_is_named_with_its_line(home, request_):
    config = home / ".codex/config.toml"
    config.parent.mkdir()
    config.write_text('model = "m"\nmodel = \n')

    with pytest.raises(ConfigError, match=r"config\.toml, line 2:"):
        hosts.codex.install(request_)


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_a_projects_files_are_written_in_the_project_only(host, home, tmp_path, request_):
    project = tmp_path / "shop"
    project.mkdir()
    inside = InstallRequest(
        env=request_.env, shims=request_.shims, command=(), project=project, skill=request_.skill
    )

    plan = host.install(inside)
    carry_out(plan)

    assert files(home) == {}
    assert len(files(project)) >= 2
    assert any("of this machine" in note for note in plan.notes)
    carry_out(host.uninstall(inside))
    assert files(project) == {}


@pytest.mark.parametrize("host", (hosts.cursor, hosts.copilot), ids=lambda host: host.name)
def test_what_is_wired_from_documentation_says_so(host, home, request_):
    assert any("not tried" in note for note in host.install(request_).notes)
    carry_out(host.install(request_))
    assert any("not tried" in note for note in host.install(request_).notes)


def test_codex_says_that_hooks_must_be_trusted(request_):
    assert any("trusted" in note for note in hosts.codex.install(request_).notes)


def test_an_agent_is_detected_by_its_folder_or_its_program(home, tmp_path, request_):
    env = request_.env
    assert isinstance(hosts.gemini, DetectableHost)
    assert hosts.gemini.detected(env) is None
    assert hosts.mcp.detected(env) is None
    (tmp_path / "gemini").write_text("#!/bin/sh\n")
    (tmp_path / "gemini").chmod(0o755)
    assert hosts.gemini.detected(env) == str(tmp_path / "gemini")
    (home / ".codex").mkdir()
    assert hosts.codex.detected(env) == str(home / ".codex")
    assert hosts.codex.detected({**env, "CODEX_HOME": str(tmp_path / "none")}) is None


def test_an_mcp_client_is_told_what_to_paste_or_gets_the_projects_file(home, tmp_path, request_):
    plan = hosts.mcp.install(request_)
    assert plan.changes == ()
    assert '"mcpServers"' in plan.notes[-1]

    inside = InstallRequest(env=request_.env, shims=tmp_path, command=(), project=tmp_path)
    carry_out(hosts.mcp.install(inside))
    entry = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]["hindsight"]
    assert entry["command"] == program()[0]
    carry_out(hosts.mcp.uninstall(inside))
    assert not (tmp_path / ".mcp.json").exists()


def test_claude_code_in_a_folder_of_its_own(home, tmp_path, request_):
    env = {**request_.env, "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    moved = InstallRequest(env=env, shims=tmp_path, command=())

    carry_out(hosts.claude_code.install(moved))

    assert files(home) == {}
    assert sorted(files(tmp_path / "claude")) == [".claude.json", "settings.json"]


@pytest.mark.parametrize("own", [program(), (sys.executable, "-P", "-m", "hindsight_core")])
def test_a_hook_imports_nothing_of_the_project_it_runs_in(own, tmp_path):
    """A project is not trusted because somebody works in it."""
    for name in ("select", "hindsight_core", "json"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()")
    done = subprocess.run(
        [*own, "hook", "codex", "Stop"],
        input=b'{"session_id": "s"}', cwd=tmp_path, capture_output=True, check=False,
        env={"HOME": str(tmp_path), "HINDSIGHT_MEM_DAEMON": "off"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"{}")
    assert not (tmp_path / "ran").exists()


@pytest.mark.spec("br/BR-35")
def test_hooks_that_codex_was_not_told_to_trust_are_named(home, request_):
    assert hosts.codex.obstacles(request_) == ()
    carry_out(hosts.codex.install(request_))

    [told] = hosts.codex.obstacles(request_)
    assert "SessionStart, UserPromptSubmit" in told and "/hooks" in told

    config, hooks = home / SERVERS["codex"], home / HOOKS["codex"]
    names = ("session_start", "user_prompt_submit", "stop", "subagent_stop")
    names += ("pre_compact", "post_compact", "session_end")
    for name in names:
        state = f'[hooks.state."{hooks}:{name}:0:0"]\ntrusted_hash = "sha256:1"\n'
        config.write_text(config.read_text() + state)
    assert hosts.codex.obstacles(request_) == ()
    assert hosts.claude_code.obstacles(request_) == ()
