"""All slash commands of one session: the built-in ones and those of plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.commands.base import CommandResult, SessionCommand, UsageError
from hindsight_core.engine.commands.foreign import foreign_commands
from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession

Factory = Callable[["LiveSession"], Iterable[SessionCommand]]
FACTORIES: tuple[Factory, ...] = ()
"""Each gives the commands that the settings of a session offer, in the order of the list."""


class Commands:
    """The slash commands of one session.

    Args:
        live: The session.
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    @cached_property
    def _commands(self) -> Mapping[str, SessionCommand]:
        own = {command.name: command for make in FACTORIES for command in make(self._live)}
        return {**own, **foreign_commands(self._live, taken=frozenset(own))}

    def describe(self) -> list[dict[str, Any]]:
        """Name, description and argument hint of each, the built-in ones first."""
        return [described(command) for command in self._commands.values()]

    async def run(self, name: str, arguments: str) -> CommandResult:
        """Run one; every failure is a result that says so, never an exception."""
        command = self._commands.get(name)
        if command is None:
            known = ", ".join(f"/{known}" for known in self._commands) or "none"
            return CommandResult(f"There is no command {name!r}. Commands: {known}.", "error")
        try:
            return await command.run(arguments.strip())
        except UsageError as error:
            return CommandResult(str(error), "error")
        except HindsightError as error:
            return CommandResult(f"/{name} failed: {error}", "error")


def described(command: SessionCommand) -> dict[str, Any]:
    """One entry of ``initialize.commands``."""
    entry: dict[str, Any] = {"name": command.name, "description": command.description}
    if command.argument_hint is not None:
        entry["argumentHint"] = command.argument_hint
    return entry
