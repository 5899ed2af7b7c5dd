"""All slash commands of one session: the built-in ones and those of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.commands.active.finder import Memory, MemoryEdit, MemoryForget
from hindsight_core.engine.commands.active.listing import MemoryList
from hindsight_core.engine.commands.active.panels import MemoryCompact, MemorySettings
from hindsight_core.engine.commands.active.pause import MemoryPause, MemoryResume
from hindsight_core.engine.commands.active.status import MemoryStats, MemoryStatus
from hindsight_core.engine.commands.active.why import MemoryWhy
from hindsight_core.engine.commands.auto import MemAuto
from hindsight_core.engine.commands.base import (
    Command,
    CommandResult,
    SessionCommand,
    UsageError,
)
from hindsight_core.engine.commands.foreign import foreign_commands
from hindsight_core.engine.commands.hub import Hub
from hindsight_core.engine.commands.mark import MemMark
from hindsight_core.engine.commands.mem import Mem
from hindsight_core.engine.commands.mode import SessionMode
from hindsight_core.engine.commands.opt_out import NextOptOut
from hindsight_core.engine.commands.queue import SessionQueue
from hindsight_core.engine.commands.recall import MemRecall
from hindsight_core.engine.commands.retain import MemRetain
from hindsight_core.engine.commands.save import MemSave
from hindsight_core.engine.commands.session_switch import SessionRecall, SessionRetain
from hindsight_core.engine.commands.session_tag import SessionTag
from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.engine.live import LiveSession

COMMANDS: tuple[type[Command], ...] = (
    Mem,
    MemSave,
    MemRetain,
    MemRecall,
    MemMark,
    MemAuto,
    Hub,
    SessionMode,
    SessionRetain,
    SessionRecall,
    NextOptOut,
    SessionTag,
    SessionQueue,
    MemoryStatus,
    MemoryStats,
    Memory,
    MemoryEdit,
    MemoryList,
    MemoryForget,
    MemoryCompact,
    MemorySettings,
    MemoryWhy,
    MemoryPause,
    MemoryResume,
)
"""The built-in ones, in the order in which hosts list them."""


class Commands:
    """The slash commands of one session.

    Args:
        live: The session.
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self.hub = False

    def take_hub(self) -> bool:
        """Whether the panel that opens now was asked for as the hub; told once."""
        asked, self.hub = self.hub, False
        return asked

    @cached_property
    def _commands(self) -> Mapping[str, SessionCommand]:
        offered = offered_commands(self._live.runtime.settings)
        own = {command.name: command(self._live) for command in offered}
        return {**own, **foreign_commands(self._live, taken=frozenset(own))}

    def describe(self) -> list[dict[str, Any]]:
        """Name, description and argument hint of each, the built-in ones first."""
        return [described(command) for command in self._commands.values()]

    async def run(self, name: str, arguments: str) -> CommandResult:
        """Run one; every failure is a result that says so, never an exception."""
        command = self._commands.get(name)
        if command is None:
            return _unknown(name, self._commands)
        try:
            return await command.run(arguments.strip())
        except UsageError as error:
            return CommandResult(str(error), "error")
        except HindsightError as error:
            return CommandResult(f"/{name} failed: {error}", "error")


def offered_commands(settings: Settings) -> list[type[Command]]:
    """The built-in commands that these settings offer."""
    return [command for command in COMMANDS if command.offered(settings)]


def run_without_bank(name: str, settings: Settings, *, reason: str) -> CommandResult:
    """What a command answers where memory is not active: why, and what to do (pi/C-13)."""
    commands = {command.name: command for command in offered_commands(settings)}
    if name not in commands:
        return _unknown(name, commands)
    if commands[name].opens_panel:
        return CommandResult(panel=True)
    return CommandResult(f"/{name} did nothing: {reason}")


def described(command: SessionCommand | type[Command]) -> dict[str, Any]:
    """One entry of ``initialize.commands``."""
    entry: dict[str, Any] = {"name": command.name, "description": command.description}
    if command.argument_hint is not None:
        entry["argumentHint"] = command.argument_hint
    return entry


def _unknown(name: str, commands: Mapping[str, object]) -> CommandResult:
    known = ", ".join(f"/{known}" for known in commands) or "none"
    return CommandResult(f"There is no command {name!r}. Commands: {known}.", "error")
