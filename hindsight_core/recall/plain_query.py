"""The question of a plain recall, in whole sentences (s1/S-REC-2, S-REC-3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.memory import Query
from hindsight_core.prompt_contexts_recall import QueryHead
from hindsight_core.transcript.entry import Entry, Image, ToolResult

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.prompts import Prompts
    from hindsight_core.recall.scopes import BankScope
    from hindsight_core.services import Clock
    from hindsight_core.turns import Turn

HEAD = "recall/plain_head"
LEAST_MESSAGES = 20


class PlainQuery:
    """Makes a bank's own question out of the last turns.

    Args:
        settings: ``recall``.
        prompts: Renders what stands before the messages.
        clock: For the date.
    """

    def __init__(self, settings: Settings, prompts: Prompts, clock: Clock) -> None:
        self._settings = settings.recall
        self._prompts = prompts
        self._clock = clock

    def worded(self, query: Query, turn: Turn, scope: BankScope | None) -> Query:
        """The query with its ``whole``; banks that look for words go on with its ``text``."""
        head = self._head(scope)
        said = messages(turn, turns=self._settings.context_turns, roles=self._settings.roles)
        limit = self._settings.max_query_chars
        return replace(query, whole=joined(head, said or query.text, limit=limit))

    def _head(self, scope: BankScope | None) -> str:
        settings, user = self._settings, scope is not None and scope.kind == "user"
        own = settings.user_query_preamble if user else settings.project_query_preamble
        hints = settings.include_repo_hints_in_query and not user and scope is not None
        variables = QueryHead(
            preamble=own or settings.query_preamble or "",
            date=self._clock().date().isoformat() if settings.include_date_in_query else "",
            scope="user" if user else "project",
            project=scope.project if scope and hints else "",
            repo=scope.repo if scope and hints else "",
            folder=scope.folder if scope and hints else "",
        )
        return self._prompts.render(HEAD, variables).text.strip()


def messages(turn: Turn, *, turns: int, roles: Sequence[str]) -> str:
    """What was said in the last turns by these roles, ``role: text`` each, newest last.

    Args:
        turn: The prompt and what stood before it, sanitised: without blocks of ours.
        turns: A turn begins with a message of the user; the prompt is the newest one.
        roles: ``user``, ``assistant``, ``tool``, ``system``.
    """
    said = [f"user: {turn.prompt.strip()}"] if "user" in roles else []
    left = turns - 1
    for entry in reversed(turn.entries):
        if left <= 0:
            break
        text = _text(entry)
        if entry.role in roles and text and not entry.synthetic:
            said.append(f"{entry.role}: {text}")
        if entry.role == "user":
            left -= 1
    return "\n\n".join(reversed(said))


def joined(head: str, said: str, *, limit: int) -> str:
    """Both within the limit: the head whole and the end of what was said, if that has room."""
    whole = f"{head}\n\n{said}" if head else said
    if len(whole) <= limit:
        return whole
    room = limit - len(head) - 2
    if not head or room < LEAST_MESSAGES:
        return whole[-limit:].strip()
    return f"{head}\n\n{said[-room:].strip()}"


def _text(entry: Entry) -> str:
    parts = [entry.text.strip()]
    parts += [p.text.strip() for p in entry.parts if isinstance(p, ToolResult)]
    parts += ["[image omitted]" for part in entry.parts if isinstance(part, Image)]
    return "\n".join(part for part in parts if part)
