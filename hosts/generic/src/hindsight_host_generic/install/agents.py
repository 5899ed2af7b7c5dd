"""Where each agent that is known here keeps its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hindsight_core.config.env import INSIDE
from hindsight_core.host import InstallRequest
from hindsight_host_generic.agents import Event
from hindsight_host_generic.install.wiring import Places, Wiring, home_folder, nested

PATHS = (
    "The project's files name programs of this machine: others of a team run `hindsight-mem "
    "install` themselves."
)


def _claude_home(env: Mapping[str, str]) -> Path:
    return home_folder(env, ".claude", variable="CLAUDE_CONFIG_DIR")


def _claude(request: InstallRequest) -> Places:
    if request.project is not None:
        folder = request.project / ".claude"
        servers = request.project / ".mcp.json"
        return Places(folder / "settings.json", servers, folder / "skills")
    folder = _claude_home(request.env)
    # Its own state file holds the user's MCP servers: beside the folder, or in a moved one.
    moved = request.env.get("CLAUDE_CONFIG_DIR", "").strip()
    servers = (folder if moved else folder.parent) / ".claude.json"
    return Places(folder / "settings.json", servers, folder / "skills")


CLAUDE_CODE = Wiring(
    places=_claude,
    folder=_claude_home,
    programs=("claude",),
    entry=nested(),
    server={"type": "stdio"},
    notes=("Claude Code reads it when a session starts.",),
    project_notes=("Claude Code asks once whether the project's MCP server may run.", PATHS),
)


def _codex_home(env: Mapping[str, str]) -> Path:
    return home_folder(env, ".codex", variable="CODEX_HOME")


def _codex(request: InstallRequest) -> Places:
    folder = _codex_home(request.env)
    if request.project is not None:
        folder = request.project / ".codex"
    return Places(folder / "hooks.json", folder / "config.toml", folder / "skills")


def _codex_obstacles(places: Places, events: tuple[Event, ...]) -> tuple[str, ...]:
    from hindsight_host_generic.install.trust import untrusted

    if places.hooks is None or places.servers is None:
        return ()
    return untrusted(places.hooks, places.servers, events=events)


CODEX = Wiring(
    places=_codex,
    folder=_codex_home,
    programs=("codex",),
    entry=nested(),
    servers=("mcp_servers",),
    # Codex empties a server's environment: without the mark of `hindsight_core.config.env.INSIDE`
    # the print mode that answers for memory would start a memory of its own.
    server={"env_vars": [INSIDE]},
    toml=True,
    notes=(
        "Codex runs no hook that you have not trusted: start `codex` once and accept the hooks "
        "that it shows (`/hooks`). After an update of them it asks again.",
    ),
    project_notes=("Codex reads them only in a project that it trusts.", PATHS),
    obstacles=_codex_obstacles,
)


def _gemini_home(env: Mapping[str, str]) -> Path:
    return home_folder(env, ".gemini")


def _gemini(request: InstallRequest) -> Places:
    folder = _gemini_home(request.env)
    if request.project is not None:
        folder = request.project / ".gemini"
    return Places(folder / "settings.json", folder / "settings.json", folder / "skills")


GEMINI = Wiring(
    places=_gemini,
    folder=_gemini_home,
    programs=("gemini",),
    entry=nested(unit="ms", extra={"name": "hindsight-memory"}),
    notes=("Gemini CLI reads it when it starts.",),
    project_notes=("Gemini CLI asks once whether the project's hooks may run.", PATHS),
)


def _cursor_home(env: Mapping[str, str]) -> Path:
    return home_folder(env, ".cursor")


def _cursor(request: InstallRequest) -> Places:
    folder = _cursor_home(request.env)
    if request.project is not None:
        folder = request.project / ".cursor"
    return Places(folder / "hooks.json", folder / "mcp.json", folder / "skills")


def _cursor_entry(command: str, event: Event) -> dict[str, Any]:
    # No timeout: the documents do not agree on its unit.
    return {"command": command}


CURSOR = Wiring(
    places=_cursor,
    folder=_cursor_home,
    programs=("cursor-agent", "cursor"),
    entry=_cursor_entry,
    version=1,
    project_notes=(PATHS,),
)


def _copilot_home(env: Mapping[str, str]) -> Path:
    return home_folder(env, ".copilot", variable="COPILOT_HOME")


def _copilot(request: InstallRequest) -> Places:
    name = "hindsight-memory.json"
    if request.project is not None:
        github = request.project / ".github"
        servers = request.project / ".mcp.json"
        return Places(github / "hooks" / name, servers, github / "skills", ours=True)
    folder = _copilot_home(request.env)
    servers = folder / "mcp-config.json"
    return Places(folder / "hooks" / name, servers, folder / "skills", ours=True)


def _copilot_entry(command: str, event: Event) -> dict[str, Any]:
    return {"type": "command", "bash": command, "timeoutSec": event.timeout_s}


COPILOT = Wiring(
    places=_copilot,
    folder=_copilot_home,
    programs=("copilot",),
    entry=_copilot_entry,
    version=1,
    server={"type": "local", "tools": ["*"]},
    project_notes=(PATHS,),
)


def _mcp(request: InstallRequest) -> Places:
    return Places(servers=request.project / ".mcp.json") if request.project else Places()


MCP = Wiring(places=_mcp, project_notes=(PATHS,))

WIRINGS: Mapping[str, Wiring] = {
    "claude-code": CLAUDE_CODE,
    "codex": CODEX,
    "gemini": GEMINI,
    "cursor": CURSOR,
    "copilot": COPILOT,
    "mcp": MCP,
}
