"""The user block of one session: read at an epoch's start, then the same bytes to its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hindsight_core.engine.wire import block_wire
from hindsight_core.errors import HindsightError
from hindsight_core.recall.person.marker import Marker, find_markers, place
from hindsight_core.recall.shown import key

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.engine.notices import Notices
    from hindsight_core.engine.opening import Opening
    from hindsight_core.recall.person.source import Known
    from hindsight_core.runtime import Runtime
    from hindsight_core.turns import Block

logger = logging.getLogger("hindsight_core.engine")
State = Literal["shown", "stale", "unavailable", "unasked"]
READ_S = 12.0
# A host waits for its system prompt; what is not there by then comes with the next epoch.
WAIT_S = 2.0
INSTRUCTIONS = "AGENTS.md"
MAX_BYTES = 262_144


class Person:
    """What the system prompt says about the person, where a marker asks for it (pi/UB).

    A provider caches a prompt by its beginning: a block that changed at every turn would cost
    many times what it is worth (pi/UB-12). So it is read when an epoch begins (a session starts,
    a compaction is done), and whether it stands in the prompt is decided at the epoch's first
    turn and held.

    Args:
        runtime: Opens the bank.
        opening: The session.
        notices: Where trouble is told.
        changed: Is told where the block stands, and how many facts it has.
    """

    def __init__(
        self,
        runtime: Runtime,
        opening: Opening,
        *,
        notices: Notices,
        changed: Callable[[State, int], None] = lambda state, facts: None,
    ) -> None:
        self._runtime = runtime
        self._opening = opening
        self._notices = notices
        self._changed = changed
        self._instructions: tuple[Path, ...] = ()
        self._seen: Marker | None = None
        self._known: Known | None = None
        self._block: Block | None = None
        self._placed: Block | None = None
        self._shown: tuple[str, ...] = ()
        self._decided = False
        self._reading: asyncio.Task[None] | None = None

    @property
    def block(self) -> Block | None:
        """The block that stands in the prompt of this epoch."""
        return self._placed

    @property
    def keys(self) -> frozenset[str]:
        """Keys of the facts that are before the model by it; recall does not show them again."""
        return frozenset(key(fact) for fact in self._shown)

    def begin(self, params: Mapping[str, Any]) -> None:
        """An epoch begins (pi/UB-05).

        Args:
            params: Of the call that says so; ``system`` is the prompt as the host has it,
                ``instructions`` are files of the person's own that may hold a marker.
        """
        files = params.get("instructions")
        if isinstance(files, list):
            self._instructions = tuple(Path(file) for file in files if isinstance(file, str))
        if isinstance(system := params.get("system"), str):
            self._see(system)
        if self._reading is not None:
            self._reading.cancel()
        self._decided, self._placed, self._shown = False, None, ()
        self._reading = asyncio.create_task(self._read(self._seen))

    async def prompt(self, system: str) -> str | None:
        """The prompt with the block at its markers; None when it has none."""
        markers = find_markers(system)
        if not markers:
            return None
        self._see(system)
        if not self._decided:
            await self._decide()
        text = self._placed.text if self._placed is not None else ""
        return place(system, lambda marker: "" if marker.problem else text)

    def stale(self) -> None:
        """A note about the person was kept: the block changes with the next epoch (pi/UB-11)."""
        if self._placed is not None or not self._decided:
            self._changed("stale", self._count)

    async def close(self) -> None:
        """End what is being read."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    async def _decide(self) -> None:
        """The epoch's first turn: what is there now is what it has."""
        reading = self._reading
        if reading is not None:
            await asyncio.wait([reading], timeout=WAIT_S)
        if self._block is None and self._seen is not None and (not reading or reading.done()):
            # Nobody could have seen this marker before: it is in the prompt only.
            self._reading = asyncio.create_task(self._read(self._seen))
            await asyncio.wait([self._reading], timeout=WAIT_S)
        self._decided, self._placed = True, self._block
        self._shown = self._known.facts if self._known and self._block else ()

    async def _read(self, marker: Marker | None) -> None:
        if marker is None:
            marker = self._seen = await asyncio.to_thread(self._from_files) or self._seen
        if marker is None:
            self._block, self._known = None, None
            self._changed("unasked", 0)
            return
        try:
            async with asyncio.timeout(READ_S):
                self._take(await self._asked(marker))
        except (HindsightError, TimeoutError) as error:
            self._failed(str(error) or f"no answer within {READ_S:g} s")
        except Exception as error:
            logger.exception("the user block could not be read")
            self._failed(f"{type(error).__name__}: {error}")

    async def _asked(self, marker: Marker) -> Known:
        from hindsight_core.recall.person.source import known

        runtime = self._runtime
        bank = runtime.open_bank(str(runtime.settings.bank.user_id))
        return await known(bank, marker, runtime.sanitiser)

    def _take(self, known: Known) -> None:
        from hindsight_core.recall.block import user_block

        self._known = known
        self._block = user_block(self._runtime.prompts, known.facts, text=known.text)
        late = self._decided and self._block != self._placed
        state: State = "stale" if late else "shown" if self._block else "unavailable"
        self._changed(state, self._count)
        self._notices.over("person", "The user bank answers again.")

    def _failed(self, why: str) -> None:
        """A block that was read before stands on; without one nothing does (pi/UB-10)."""
        if self._block is not None:
            self._changed("stale", self._count)
            return
        self._changed("unavailable", 0)
        self._notices.trouble(
            "person", f"The user bank could not be read, nothing of it is in the prompt: {why}"
        )

    def _see(self, text: str) -> None:
        self._seen = self._first(text, "the system prompt") or self._seen

    def _from_files(self) -> Marker | None:
        """The first marker of the instruction files: the trusted project's, then one's own."""
        loaded = self._opening.loaded
        own = (
            [self._opening.session.cwd / INSTRUCTIONS] if loaded and loaded.project.trusted else []
        )
        for path in (*own, *self._instructions):
            try:
                with path.open("rb") as file:
                    text = file.read(MAX_BYTES).decode("utf-8", errors="replace")
            except OSError:
                continue
            if (marker := self._first(text, str(path))) is not None:
                return marker
        return None

    def _first(self, text: str, where: str) -> Marker | None:
        """The first marker that can be read; of the others one is told."""
        markers = find_markers(text)
        good = next((marker for marker in markers if not marker.problem), None)
        if markers and good is None:
            self._notices.trouble(
                "marker", f"The hindsight:user marker in {where} is left out: {markers[0].problem}."
            )
        return good

    @property
    def _count(self) -> int:
        if self._known is None:
            return 0
        return len(self._known.facts) or int(bool(self._known.text))


def person_of(live: LiveSession) -> Person | None:
    """The user block of a session; None without a user bank, and nothing is asked (pi/UB-01)."""
    if not live.runtime.settings.bank.user_id:
        return None
    from hindsight_core.engine.widget import UserFragment

    return Person(
        live.runtime,
        live.opening,
        notices=live.notices,
        changed=lambda state, facts: live.watch.user(UserFragment(state, facts)),
    )


async def placed(live: LiveSession | None, params: Mapping[str, Any]) -> dict[str, Any]:
    """The result of ``system/prompt``: the text to use, or null for the one that was given."""
    person, system = live.person if live is not None else None, params.get("system")
    text: str | None = None
    if person is not None and isinstance(system, str):
        try:
            text = await person.prompt(system)
        except Exception:
            # A prompt without the block costs less than a turn.
            logger.exception("the user block could not be placed")
    block = person.block if person is not None and text is not None else None
    return {"system": text, "blocks": [block_wire(block)] if block is not None else []}
