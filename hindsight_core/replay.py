"""Recalled blocks of a process's session, put back at their places in every request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hindsight_core.tokens import CHARACTERS_PER_TOKEN


class Replay:
    """Blocks of this process's session, put back at their places in every request.

    A block is anchored by the role and timestamp of the user message that it answers, or of the
    tool result that it follows, so that the provider's prefix cache holds and nothing is written
    to the session file.

    Args:
        cap_tokens: ``recall.live_tokens``; beyond it all earlier blocks go at once.
    """

    def __init__(self, *, cap_tokens: int) -> None:
        self._cap = cap_tokens
        self._blocks: dict[tuple[str, Any], tuple[str, str]] = {}

    def add(self, anchor: tuple[str, Any], text: str, *, position: str = "after") -> bool:
        """Place a block; True when all earlier ones had to go (the shown-set must be emptied).

        Args:
            anchor: Role and timestamp of that message.
            text: The block.
            position: ``after`` the message, ``append`` (before it), ``prepend`` (first of all).
        """
        held = sum(len(block) for block, _ in self._blocks.values())
        size = (held + len(text)) // CHARACTERS_PER_TOKEN
        full = bool(self._blocks) and size > self._cap
        if full:
            self._blocks.clear()
        self._blocks[anchor] = (text, position)
        return full

    def clear(self) -> None:
        """After a compaction, or when the session is another one."""
        self._blocks.clear()

    def places(self, messages: Sequence[tuple[str, Any]]) -> list[tuple[int, str]]:
        """Index of the message that each block follows, for those whose anchor is there.

        -1 is the place before the first message.
        """
        # Results of tools that ran side by side may have one timestamp: a block stands once.
        last = {message: index for index, message in enumerate(messages) if message in self._blocks}
        found = [(index, *self._blocks[message]) for message, index in last.items()]
        back = {"append": 1, "after": 0}
        return [
            (index - back[position] if position in back else -1, text)
            for index, text, position in sorted(found)
        ]
