"""Where a session's entries come from: its transcript file, or the words in its hooks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from hindsight_core.transcript.entry import Entry
from hindsight_core.transcript.wire import entries_from_wire
from hindsight_host_generic.agents.base import Agent
from hindsight_host_generic.hooks import Hook
from hindsight_host_generic.spoken import Spoken
from hindsight_host_generic.transcripts import DIALECTS
from hindsight_host_generic.transcripts.follow import PASSING, RESIDENT, Follower, News

# An agent may run its stop hook before the last words are in its file.
_AGAIN_S = (0.05, 0.1, 0.2, 0.4)
logger = logging.getLogger("hindsight_core.hosts.generic")


class Source:
    """The path of one session.

    Args:
        agent: Whose files these are.
        memo: Outlives the process.
        resident: Whether this process stays.
    """

    def __init__(self, agent: Agent, memo: MutableMapping[str, Any], *, resident: bool) -> None:
        self._reach = RESIDENT if resident else PASSING
        self._agent = agent
        self._memo = memo
        self._spoken = Spoken(memo)
        self._follower: Follower | None = None
        self._path: str | None = None
        self._unreadable = False

    def prompt(self, text: str) -> None:
        """The person wrote this."""
        if self._follower is None:
            self._spoken.prompt(text)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The whole path, as far as this process knows it."""
        if self._follower is not None:
            return self._follower.entries
        return entries_from_wire(self._spoken.entries).entries

    async def update(self, hook: Hook, *, ended: bool) -> News:
        """What is new since the last time.

        Args:
            hook: Names the file, and has the last words of a turn that ended.
            ended: A turn ended: wait a moment for its last words to be in the file.
        """
        path = hook.transcript
        news = await self._from_file(path, hook.reply if ended else None) if path else None
        if news is not None:
            return news
        entries = self._words(hook) if ended else ()
        return News(entries, since=self._last(entries) if entries else "")

    async def _from_file(self, path: str, reply: str | None) -> News | None:
        follower = self._follow(path)
        if follower is None:
            return None
        try:
            news = await asyncio.to_thread(follower.update, path)
            for pause in _AGAIN_S:
                if reply is None or _has(follower.entries, reply):
                    break
                await asyncio.sleep(pause)
                news = _both(news, await asyncio.to_thread(follower.update, path))
        except OSError as error:
            # Not there yet before the first words are said.
            logger.info("%s cannot be read: %s", path, error.strerror or error)
            return None
        if follower.records and follower.unknown == follower.records:
            logger.warning("%s is of no form that is known for %s", path, self._agent.name)
            self._unreadable, self._follower = True, None
            return None
        return news

    def _follow(self, path: str) -> Follower | None:
        dialect = DIALECTS.get(self._agent.dialect or "plain")
        if dialect is None or self._unreadable or not Path(path).is_file():
            return None
        if self._follower is None or path != self._path:
            follower = Follower(dialect, self._memo, reach=self._reach)
            self._follower, self._path = follower, path
        return self._follower

    def _words(self, hook: Hook) -> tuple[Entry, ...]:
        return entries_from_wire(self._spoken.turn(None, hook.reply)).entries

    def _last(self, new: tuple[Entry, ...]) -> str | None:
        """What the new entries follow, as far as this process told it."""
        earlier = len(self._spoken.entries) - len(new)
        return str(self._spoken.entries[earlier - 1]["id"]) if earlier > 0 else None


def _has(entries: tuple[Entry, ...], reply: str) -> bool:
    """Whether these last words are among the last entries."""
    wanted = reply.strip()
    return any(wanted in entry.text for entry in entries[-4:] if entry.role == "assistant")


def _both(first: News, second: News) -> News:
    if second.since is None:
        return second
    return News(
        (*first.entries, *second.entries),
        since=first.since,
        compacted=first.compacted or second.compacted,
        skipped=first.skipped or second.skipped,
    )
