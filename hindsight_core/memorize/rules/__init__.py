"""Extraction without a model: what the user told to remember, decided or demanded.

Deterministic and cautious: a statement that is missed can be said again, a wrong one steers an
agent. Only the user's own words count; questions, orders for now, guesses, quotations, tool
output and the assistant's words never do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.memory import Fact
    from hindsight_core.transcript.entry import Window


def user_facts(window: Window, *, limit: int) -> list[Fact]:
    """The user's lasting statements of a window, in order, marked with their entry.

    A statement that a later one takes back is not among them.

    Args:
        window: Sanitised entries; saved ones are passed over.
        limit: Longest fact in characters.
    """
    from hindsight_core.memorize.rules.facts import to_fact
    from hindsight_core.memorize.rules.message import Message
    from hindsight_core.memorize.rules.notes import Notes

    notes = Notes()
    earlier: list[str] = []
    answered = ""
    for entry in window.entries:
        if entry.role == "assistant" and entry.text.strip():
            answered = entry.text
        if entry.role == "user" and not entry.synthetic and entry.id not in window.saved:
            Message(notes, entry, len(earlier) + 1, answered, earlier).hear()
            earlier.append(entry.text)
            answered = ""
    facts = [to_fact(note, window) for note in notes.kept]
    return [fact for fact in facts if len(fact.text) <= limit]
