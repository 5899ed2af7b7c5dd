"""What an agent's configuration looks like: where it is, and the form of each part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hindsight_core.host import InstallRequest

if TYPE_CHECKING:
    from hindsight_host_generic.agents import Event

Entry = Callable[[str, "Event"], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Places:
    """Files of one agent, the user's or a project's; None where it has no such thing.

    Attributes:
        hooks: The file that names its hooks.
        servers: The file that names its MCP servers.
        skills: The folder of its skills.
        ours: ``hooks`` is a file of our own, not one shared with others.
    """

    hooks: Path | None = None
    servers: Path | None = None
    skills: Path | None = None
    ours: bool = False


@dataclass(frozen=True, slots=True)
class Wiring:
    """How memory is put into one agent.

    Attributes:
        places: Where its files are, for the user or for a project.
        folder: Its configuration folder, which tells that it is installed.
        programs: Its programs, which tell the same.
        entry: One hook: its command and its event in the agent's form.
        version: Value of ``version`` in its hook file; None where it has none.
        servers: Where MCP servers stand in their file, such as ``mcpServers``.
        server: What an entry there has besides command, arguments and environment.
        toml: The file of MCP servers is TOML.
        notes: What the user must know or do.
        project_notes: The same, for ``--project``.
        obstacles: What in the agent's own files keeps wired hooks from running, for ``doctor``.
    """

    places: Callable[[InstallRequest], Places]
    folder: Callable[[Mapping[str, str]], Path | None] = lambda env: None
    programs: tuple[str, ...] = ()
    entry: Entry | None = None
    version: int | None = None
    servers: tuple[str, ...] = ("mcpServers",)
    server: Mapping[str, Any] = field(default_factory=dict)
    toml: bool = False
    notes: tuple[str, ...] = ()
    project_notes: tuple[str, ...] = ()
    obstacles: Callable[[Places, tuple[Event, ...]], tuple[str, ...]] | None = None


def nested(*, unit: Literal["s", "ms"] = "s", extra: Mapping[str, str] | None = None) -> Entry:
    """The form of Claude Code, Codex and Gemini CLI: a group that holds a list of hooks."""
    factor = 1000 if unit == "ms" else 1

    def entry(command: str, event: Event) -> dict[str, Any]:
        hook = {"type": "command", **(extra or {}), "command": command}
        return {"hooks": [{**hook, "timeout": event.timeout_s * factor}]}

    return entry


def home_folder(env: Mapping[str, str], name: str, *, variable: str | None = None) -> Path:
    """An agent's folder: where its own variable says, else ``~/<name>``."""
    moved = env.get(variable, "").strip() if variable else ""
    if moved:
        return Path(moved).expanduser().absolute()
    return Path(env.get("HOME") or Path.home()) / name
