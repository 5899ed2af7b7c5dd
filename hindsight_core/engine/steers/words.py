"""Words around a steer: what was asked, what is being written, what is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.transcript.entry import Entry, Text
from hindsight_core.transcript.wire import entries_from_wire

if TYPE_CHECKING:
    from hindsight_core.turns import RecallOutcome


def unfinished(params: Mapping[str, Any]) -> Entry | None:
    """The message that the model is still writing, where a host sends it."""
    raw = params.get("partial")
    found = entries_from_wire([raw]).entries if isinstance(raw, Mapping) else ()
    return found[0] if found else None


def with_prompt(path: tuple[Entry, ...], prompt: str) -> tuple[Entry, ...]:
    """The path, and the prompt behind it where it does not hold it yet."""
    if not prompt or any(e.role == "user" and e.text.strip() == prompt for e in path):
        return path
    return (*path, Entry("prompt", "user", (Text(prompt),)))


def last_words(path: tuple[Entry, ...]) -> str:
    """What the person said last."""
    said = (entry.text for entry in reversed(path) if entry.role == "user" and not entry.synthetic)
    return next((text for text in said if text.strip()), "")


def texts(outcome: RecallOutcome) -> str:
    """The texts of its memories, for telling one steer from another."""
    return "\n".join(hit.fact.text for hit in outcome.hits)
