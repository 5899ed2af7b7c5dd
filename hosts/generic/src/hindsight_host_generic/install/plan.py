"""Plans what `install` and `uninstall` change in an agent's configuration."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.host import Change, InstallPlan, InstallRequest
from hindsight_core.jsonc import Key
from hindsight_host_generic.install.commands import (
    hook_command,
    is_hook,
    is_server,
    server_entry,
)
from hindsight_host_generic.install.files import ConfigFile, JsonFile, TomlFile

if TYPE_CHECKING:
    from hindsight_host_generic.agents import Event
    from hindsight_host_generic.install.wiring import Wiring

SERVER = "hindsight"
SECOND_NAME = "hindsight-mem"
SKILL = "hindsight-memory"
NO_SDK = (
    "The tools need the MCP SDK, which is not installed: pip install 'hindsight-core[mcp]'. "
    "Everything else works without."
)
Spot = tuple[list[Key], int]


class Planner:
    """Plans one agent's wiring.

    Args:
        host: The agent's name.
        events: The hooks that it gets.
        wiring: The form of its configuration.
        request: Where and how.
    """

    def __init__(
        self, host: str, *, events: tuple[Event, ...], wiring: Wiring, request: InstallRequest
    ) -> None:
        self._host = host
        self._events = events if wiring.entry else ()
        self._wiring = wiring
        self._request = request
        self._places = wiring.places(request)
        self._files: dict[Path, ConfigFile] = {}

    def install(self) -> InstallPlan:
        """Hooks, MCP server and skill, as far as the agent has such things.

        Raises:
            ConfigError: A file cannot be parsed; it names file and line, and nothing is planned.
        """
        if self._places.hooks is not None:
            self._hook(self._json(self._places.hooks))
        name = SERVER
        if self._places.servers is not None:
            name = self._serve(self._servers_file(self._places.servers))
        changes = [file.change(ours=self._alone(file)) for file in self._files.values()]
        changes += self._skill(name)
        real = tuple(change for change in changes if change.before != change.after)
        return InstallPlan(real, self._notes() if real else ())

    def uninstall(self) -> InstallPlan:
        """Takes all of it out and leaves everything else as it was."""
        if self._places.hooks is not None:
            file = self._json(self._places.hooks)
            for event in dict(file.get(("hooks",)) or {}):
                self._unhook(file, event)
        if self._places.servers is not None:
            servers = self._servers_file(self._places.servers)
            for name, entry in dict(servers.get(self._wiring.servers) or {}).items():
                if is_server(entry):
                    servers.drop((*self._wiring.servers, name))
        changes = [
            file.change(removing=True, ours=self._alone(file)) for file in self._files.values()
        ]
        skill = self._skill_path()
        if skill is not None and (present := _present(skill)) is not None:
            changes.append(Change(skill, present, None, ours=True))
        return InstallPlan(tuple(c for c in changes if c.before != c.after))

    # -- hooks -----------------------------------------------------------------------------

    def _hook(self, file: JsonFile) -> None:
        version = self._wiring.version
        if version is not None and file.get(("version",)) is None:
            file.put(("version",), version)
        wanted = {event.name for event in self._events}
        for event in self._events:
            self._hook_event(file, event)
        for name in dict(file.get(("hooks",)) or {}):
            if name not in wanted:
                self._unhook(file, name)

    def _hook_event(self, file: JsonFile, event: Event) -> None:
        assert self._wiring.entry is not None  # noqa: S101 (without it there are no events)
        item = self._wiring.entry(hook_command(self._request, self._host, event.name), event)
        keys = ("hooks", event.name)
        groups = file.items(keys)
        if item in groups and len(list(self._ours(groups, keys))) == 1:
            return
        spots = list(self._ours(groups, keys))
        if spots and spots[0][0] == list(keys):
            file.replace_item(keys, spots[0][1], item)
            spots = spots[1:]
        else:
            file.items(keys)  # says what is wrong with it
            file.append(keys, item)
        for path, index in reversed(spots):
            file.drop_item(path, index)

    def _unhook(self, file: JsonFile, event: str) -> None:
        keys = ("hooks", event)
        for path, index in reversed(list(self._ours(file.items(keys), keys))):
            file.drop_item(path, index)

    def _ours(self, groups: list[Any], keys: tuple[str, ...]) -> Iterator[Spot]:
        """Where our hooks are: whole items, or single hooks beside foreign ones in a group."""
        for index, group in enumerate(groups):
            if not isinstance(group, dict):
                continue
            inner = group.get("hooks")
            if not isinstance(inner, list):
                if self._is_ours(group):
                    yield list(keys), index
                continue
            mine = [place for place, hook in enumerate(inner) if self._is_ours(hook)]
            if mine and len(mine) == len(inner):
                yield list(keys), index
            else:
                for place in mine:
                    yield [*keys, index, "hooks"], place

    def _is_ours(self, hook: object) -> bool:
        return isinstance(hook, dict) and any(is_hook(v, self._host) for v in hook.values())

    # -- servers, skill, notes -------------------------------------------------------------

    def _serve(self, file: ConfigFile) -> str:
        table = file.get(self._wiring.servers) or {}
        entry = {**self._wiring.server, **server_entry(self._request, self._host)}
        mine = [name for name, held in table.items() if is_server(held)]
        name = mine[0] if mine else SERVER if SERVER not in table else SECOND_NAME
        held = table.get(name) or {}
        # What the user has added to our entry, such as a timeout or approvals, stays.
        for key, value in entry.items():
            if held.get(key) != value:
                entry = {**held, **entry}
                if "env" not in server_entry(self._request, self._host):
                    entry.pop("env", None)
                file.put((*self._wiring.servers, name), entry)
                break
        for other in mine[1:]:
            file.drop((*self._wiring.servers, other))
        return name

    def _skill(self, server: str) -> list[Change]:
        path, text = self._skill_path(), self._request.skill
        if path is None or text is None:
            return []
        return [Change(path, _present(path), text(server) + "\n", ours=True)]

    def _skill_path(self) -> Path | None:
        skills = self._places.skills
        return skills / SKILL / "SKILL.md" if skills is not None else None

    def _notes(self) -> tuple[str, ...]:
        notes = list(self._wiring.notes)
        if self._request.project is not None:
            notes += self._wiring.project_notes
        if self._places.servers is not None and not has_sdk():
            notes.append(NO_SDK)
        return tuple(notes)

    # -- files -----------------------------------------------------------------------------

    def _alone(self, file: ConfigFile) -> bool:
        return self._places.ours and file.path == self._places.hooks

    def _json(self, path: Path) -> JsonFile:
        file = self._files.get(path)
        if not isinstance(file, JsonFile):
            file = self._files[path] = JsonFile(path)
        return file

    def _servers_file(self, path: Path) -> ConfigFile:
        if not self._wiring.toml:
            return self._json(path)
        return self._files.setdefault(path, TomlFile(path))


def has_sdk() -> bool:
    """Whether the MCP server can be started from this installation."""
    return find_spec("mcp") is not None


def _present(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
