"""``/memory-why``: what the latest steer was, and why it was sent."""

from __future__ import annotations

from hindsight_core.engine.commands.active.base import ActiveCommand
from hindsight_core.engine.commands.base import CommandResult
from hindsight_core.recall.steer.look import RATED_BY, REASON


class MemoryWhy(ActiveCommand):
    """Ids, scores, token and reason."""

    name = "memory-why"
    description = "ids, scores, token and reason of the latest steer"

    async def act(self, arguments: str) -> CommandResult:
        """Of this process; of an earlier one only ids and token are known."""
        steers = self.live.steers
        last = steers.last
        if last is None:
            if not steers.delivered:
                return CommandResult("nothing was sent in this session yet")
            before = steers.delivered[-1]
            return CommandResult(
                f"sent {before.at:%Y-%m-%d %H:%M} UTC, before this process began\n"
                f"token {before.token}\n" + "\n".join(before.ids)
            )
        query = last.searched[0].query.text if last.searched else ""
        lines = [
            f"query: {query}",
            f"reason: {last.details.get(REASON) or 'none given'}",
            f"token {last.details[RATED_BY]}",
            *(f"{hit.id}  {hit.score:.3f}  {hit.fact.text}" for hit in last.hits),
        ]
        return CommandResult("\n".join(lines))
