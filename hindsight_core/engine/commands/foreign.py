"""Slash commands that plugins registered (``hindsight_register_commands``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.commands.base import CommandResult
from hindsight_core.engine.foreign import ForeignFailure, called, made

if TYPE_CHECKING:
    from hindsight_core.engine.commands.base import Level
    from hindsight_core.engine.live import LiveSession

_LEVELS: Mapping[str, Level] = {"info": "info", "warning": "warning", "error": "error"}


class ForeignCommand:
    """One command of a plugin: its object has ``description`` and ``run``."""

    def __init__(self, name: str, label: str, command: Any) -> None:  # noqa: ANN401
        self.name = name
        self.description = str(getattr(command, "description", "") or name)
        hint = getattr(command, "argument_hint", None)
        self.argument_hint = hint if isinstance(hint, str) else None
        self._label = label
        self._run = command.run

    async def run(self, arguments: str) -> CommandResult:
        """Text, a mapping in protocol.md's form, or a `CommandResult`; or `ForeignFailure`."""
        answer = await called(self._label, self._run, {"arguments": arguments})
        if answer is None or isinstance(answer, str):
            return CommandResult(answer)
        if isinstance(answer, CommandResult):
            return answer
        if not isinstance(answer, Mapping):
            raise ForeignFailure(
                f"{self._label} answered with {type(answer).__name__}; it must be text or an "
                "object with `text`, `level`, `prompt`, `panel`"
            )
        text, prompt = answer.get("text"), answer.get("prompt")
        return CommandResult(
            text if isinstance(text, str) else None,
            _LEVELS.get(str(answer.get("level")), "info"),
            prompt=prompt if isinstance(prompt, str) else None,
            panel=answer.get("panel") is True,
        )


def foreign_commands(live: LiveSession, *, taken: frozenset[str]) -> dict[str, ForeignCommand]:
    """The usable ones by name; what is wrong with another is told once."""
    commands = {}

    def told(text: str) -> None:
        live.notices.trouble(text, text)

    for name, label, command in made(live.runtime, "commands", taken=taken, told=told):
        if callable(getattr(command, "run", None)):
            commands[name] = ForeignCommand(name, label, command)
        else:
            told(f"{label} is not offered: its object has no `run(arguments)`.")
    return commands
