"""Which fact replaces which, and what a repeated sentence means for a retired one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from hindsight_core.banks.sqlite import facts, index
from hindsight_core.banks.sqlite.rows import to_micros
from hindsight_core.memory import Fact


def retire(connection: sqlite3.Connection, pairs: Iterable[tuple[str, str]]) -> int:
    """Mark old facts superseded by new ones, as pairs (new, old); how many changed.

    Left alone: unknown old facts, pinned ones, those already retired, and a fact by itself.
    """
    changed = 0
    for new, old in pairs:
        held = facts.find(connection, old)
        if held is None or new == old or held.fact.pinned or held.fact.state != "valid":
            continue
        connection.execute(
            "UPDATE facts SET state = 'superseded', superseded_by = ? WHERE row = ?",
            (new, held.row),
        )
        index.refresh(connection, (held.row, *index.touching(connection, held.row)))
        changed += 1
    return changed


def revives(
    connection: sqlite3.Connection, held: Fact, said: Fact, *, explicit: bool, repeated: bool
) -> bool:
    """Whether saying a retired sentence again makes it valid.

    An invalidated fact only comes back when a person asks (``explicit``); a superseded one also
    when it is said later than what replaced it. The same document sent again (``repeated``)
    says nothing new.
    """
    if held.state == "valid":
        return False
    if explicit:
        return True
    if held.state == "pending":
        return said.state == "valid" and not repeated
    if held.state == "invalidated" or repeated:
        return False
    return not _said_before_successor(connection, held, said)


def _said_before_successor(connection: sqlite3.Connection, held: Fact, said: Fact) -> bool:
    successor = facts.find(connection, held.superseded_by) if held.superseded_by else None
    mine = to_micros(said.timestamp)
    theirs = to_micros(successor.fact.timestamp) if successor else None
    return mine is not None and theirs is not None and mine < theirs
