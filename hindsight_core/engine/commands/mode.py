"""``/hindsight:mode``: what this session may read and write (s1/S-SES-2)."""

from __future__ import annotations

from hindsight_core.engine.commands.base import Command, CommandResult
from hindsight_core.state.choices import MODES


class SessionMode(Command):
    """Chooses the session's mode, which outlives the process."""

    name = "hindsight:mode"
    description = "whether this session is remembered: normal, read-only or ignored"
    argument_hint = f"[{'|'.join(MODES)}]"

    async def run(self, arguments: str) -> CommandResult:
        """Chooses a mode; says how everything stands."""
        modes = self.live.modes
        if arguments:
            await modes.set_mode(arguments.lower())
        else:
            await modes.refresh()
        self.live.watch.changed()
        return CommandResult(stands(self))


def stands(command: Command) -> str:
    """Mode, what is switched off, tags: one line."""
    choices = command.live.modes.choices
    said = [f"mode {choices.mode}" + (" (its record was broken)" if choices.broken else "")]
    said += [] if choices.recall else ["recall off"]
    said += [] if choices.retain else ["retain off"]
    said += ["the next turn is left out"] if choices.next_opt_out else []
    said += [f"tags {', '.join(choices.tags)}"] if choices.tags else []
    return " · ".join(said)
