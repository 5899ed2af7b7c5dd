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

SOURCE = "user-rule"


def user_facts(window: Window, *, limit: int) -> list[Fact]:
    """The user's lasting statements of a window, in order, marked with their entry.

    Args:
        window: Sanitised entries.
        limit: Longest fact in characters.
    """
    from hindsight_core.memorize.rules.facts import to_fact
    from hindsight_core.memorize.rules.gather import Gatherer

    facts = [to_fact(note, window) for note in Gatherer().walk(window)]
    return [fact for fact in facts if fact is not None and len(fact.text) <= limit]
