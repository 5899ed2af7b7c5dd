"""What is before the model in one session: kept in memory, written down where it outlives it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.host import BlockMode
    from hindsight_core.state.sessions import SessionState


class ShownSet:
    """Keys of the facts that the model can see (pi/R-16).

    Adding is synchronous, in the same step as the answer, so that a turn which is cancelled
    before has marked nothing. With ``persist`` the keys are written behind that; with ``replay``
    blocks die with the host's process, and so do the keys; with ``turn`` nothing stays.

    Args:
        sessions: Keeps the keys of a host whose transcript keeps the blocks.
        bank: The session's bank.
        session_id: The session.
        blocks: What the host does with a block.
    """

    def __init__(
        self, sessions: Callable[[], SessionState], *, bank: str, session_id: str, blocks: BlockMode
    ) -> None:
        self._sessions = sessions
        self._bank = bank
        self._session_id = session_id
        self._blocks = blocks
        self._keys: set[str] = set()
        self._last: tuple[str, ...] = ()
        self._loaded = blocks != "persist"
        self._writing: asyncio.Task[None] | None = None

    async def keys(self) -> frozenset[str]:
        """What a recall leaves out; raises `StorageError`."""
        if not self._loaded:
            kept = await self._sessions().shown(self._bank, self._session_id)
            # A compaction that came meanwhile has emptied the set: it stays empty.
            if not self._loaded:
                self._keys |= kept
                self._loaded = True
        return frozenset(self._keys)

    def add(self, keys: Iterable[str]) -> None:
        """These facts go before the model with the answer that is being sent."""
        if self._blocks == "turn":
            return
        self._last = tuple(key for key in keys if key not in self._keys)
        self._keys.update(self._last)
        if self._blocks == "persist" and self._last:
            last = self._last
            self._write(lambda state: state.add_shown(self._bank, self._session_id, last))

    def take_back(self) -> None:
        """The last answer's block did not reach the model."""
        self._keys.difference_update(self._last)
        kept, self._last = tuple(self._keys), ()
        if self._blocks == "persist":
            self._write(lambda state: self._rewrite(state, kept))

    def clear(self, *, but_last: bool = False) -> None:
        """The model has lost what was shown; ``but_last`` keeps the newest block's facts."""
        self._last = self._last if but_last else ()
        self._keys, self._loaded = set(self._last), True
        kept = self._last
        if self._blocks == "persist":
            self._write(lambda state: self._rewrite(state, kept))

    async def flush(self) -> None:
        """Wait for what is being written; raises `StorageError` of the last write."""
        if self._writing is not None:
            await self._writing

    async def _rewrite(self, state: SessionState, keys: tuple[str, ...]) -> None:
        await state.clear_shown(self._bank, self._session_id)
        if keys:
            await state.add_shown(self._bank, self._session_id, keys)

    def _write(self, work: Callable[[SessionState], Awaitable[None]]) -> None:
        before = self._writing

        async def run() -> None:
            if before is not None:
                await asyncio.wait([before])
            try:
                await work(self._sessions())
            except HindsightError:
                # state.db is rebuildable: a fact may be shown a second time after a resume.
                return

        self._writing = asyncio.create_task(run())
