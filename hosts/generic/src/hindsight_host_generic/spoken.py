"""Turns of an agent without a transcript that we can read: the words in its hooks are all."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from hindsight_core.transcript.wire import content_id

Wire = dict[str, Any]
_KEPT = 4_000


class Spoken:
    """Entries made of what the hooks said.

    Args:
        memo: The last entry's id and a prompt without its answer outlive the process here.
    """

    def __init__(self, memo: MutableMapping[str, Any]) -> None:
        self.entries: list[Wire] = []
        self._memo = memo

    def prompt(self, text: str) -> None:
        """The person wrote this; it becomes an entry when the turn ends."""
        self._memo["prompt"] = text[:_KEPT]

    def turn(self, prompt: str | None, reply: str | None) -> list[Wire]:
        """The turn has ended: its entries, linked to what was there."""
        said = (("user", prompt or self._memo.pop("prompt", None)), ("assistant", reply))
        self._memo.pop("prompt", None)
        new = []
        for role, text in said:
            if not isinstance(text, str) or not text.strip():
                continue
            last = self._memo.get("last")
            parts = [{"type": "text", "text": text}]
            entry_id = content_id([role, text], last if isinstance(last, str) else None)
            new.append({"id": entry_id, "parentId": last, "role": role, "parts": parts})
            self._memo["last"] = entry_id
        self.entries += new
        return new
