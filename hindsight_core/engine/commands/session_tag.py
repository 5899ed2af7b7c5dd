"""``/hindsight:tag``: tags of everything that this session writes (s1/S-SES-5)."""

from __future__ import annotations

from hindsight_core.engine.commands.base import Command, CommandResult, UsageError


class SessionTag(Command):
    """Adds or removes one tag; without arguments it lists them."""

    name = "hindsight:tag"
    description = "tags of what this session writes"
    argument_hint = "[add|remove TAG]"

    async def run(self, arguments: str) -> CommandResult:
        """The tags as they are then."""
        verb, _, tag = arguments.partition(" ")
        modes = self.live.modes
        if verb in ("add", "remove") and tag.strip():
            await modes.tag(tag, remove=verb == "remove")
        elif arguments:
            raise UsageError("usage: /hindsight:tag add TAG, or remove TAG")
        else:
            await modes.refresh()
        return CommandResult("tags: " + (", ".join(modes.choices.tags) or "none"))
