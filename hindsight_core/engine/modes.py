"""What a session may read and write: its mode, one-turn opt-out, what is left out (s1/S-SES).

The one place where the engine asks. A turn that ends while nothing may be written is left out for
good: it is in no journal and no later run writes it, whatever mode is chosen then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.engine.commands.base import UsageError
from hindsight_core.state.choices import MODES, MOST_TAG_CHARS, Choices, SessionChoices, is_tag
from hindsight_core.state.retained import Retained
from hindsight_core.telemetry import without_text
from hindsight_core.transcript.private import is_left_out, without_marked_turns

if TYPE_CHECKING:
    from hindsight_core.engine.notices import Notices
    from hindsight_core.runtime import Runtime
    from hindsight_core.transcript.entry import Entry

READS = frozenset({"hindsight_recall", "hindsight_reflect", "hindsight_search", "memory_search"})
WRITES = frozenset(
    "hindsight_retain hindsight_retain_user hindsight_forget memory_store_result memory_correct "
    "memory_feedback".split()
)


class Modes:
    """The choices of one session, and what follows from them.

    Args:
        runtime: The opened configuration.
        notices: Where the user is told that a turn was left out.
        session_id: The session.
    """

    def __init__(self, runtime: Runtime, *, notices: Notices, session_id: str) -> None:
        self._runtime = runtime
        self._notices = notices
        self._session_id = session_id
        self._before: frozenset[str] = frozenset()
        self._left_out: frozenset[str] = frozenset()
        self._marked = False
        self.choices = Choices()

    @property
    def why_no_recall(self) -> str | None:
        """Why nothing is recalled here; None when it may be."""
        return self.choices.why_no_recall

    @property
    def why_no_retain(self) -> str | None:
        """Why nothing is written now; None when it may be."""
        return self.choices.why_no_retain or ("this turn is left out" if self._marked else None)

    @property
    def why_no_session(self) -> str | None:
        """Why nothing of this session is written, whatever the turn."""
        return replace(self.choices, next_opt_out=False).why_no_retain

    async def refresh(self) -> None:
        """Read the choices again: a command in another process may have changed them."""
        self.choices = await self._store.get(self._session_id)
        self._left_out = frozenset(await self._retained.left_out(self._session_id))

    async def opened(self, path: Sequence[Entry]) -> None:
        """A session begins or goes on.

        A turn that was to be left out and never ended, since its process was killed, is left out
        now: of what every process has made durable it is not.
        """
        await self.began(path)
        if not self.choices.next_opt_out or not path:
            return
        identify = self._runtime.sanitiser.entry_id
        ids = [identify(entry.id) for entry in path]
        known = await self._retained.durable(self._session_id)
        last = max((at for at, entry_id in enumerate(ids) if entry_id in known), default=-1)
        await self._leave_out(ids[last + 1 :], why=str(self.choices.why_no_retain))

    async def began(self, path: Sequence[Entry], prompt: str = "") -> None:
        """A turn begins, or the session: what is on the path is no part of it.

        Args:
            path: Before the prompt.
            prompt: What the user asks; a mark in it opts the turn out.
        """
        await self.refresh()
        self._before = frozenset(entry.id for entry in path)
        self._marked = is_left_out(prompt, self._marks)

    async def ended(self, path: Sequence[Entry]) -> None:
        """A turn has ended: leave it out if nothing may be written; an opt-out ends with it."""
        await self.refresh()
        if (why := self.why_no_retain) is not None:
            identify = self._runtime.sanitiser.entry_id
            own = [identify(entry.id) for entry in path if entry.id not in self._before]
            await self._leave_out(own, why=why)
        if self.choices.next_opt_out:
            self.choices = await self.change(lambda now: replace(now, next_opt_out=False))
            self._notices.say("This turn was left out of memory; the next one is not.")
        self._before = frozenset(entry.id for entry in path)
        self._marked = False

    async def _leave_out(self, ids: Sequence[str], *, why: str) -> None:
        await self._retained.leave_out(self._session_id, ids, reason=why)
        self._left_out |= frozenset(ids)

    def writable(self, path: Sequence[Entry]) -> tuple[Entry, ...]:
        """What of a path may be written: into the journal, to a model that memorizes, to a bank."""
        if self.why_no_session is not None:
            return ()
        if self.why_no_retain is not None:
            # A turn that is to be left out and has not ended: a compaction may come in its middle.
            path = tuple(entry for entry in path if entry.id in self._before)
        return self._without_left_out(path)

    def tellable(self, path: Sequence[Entry]) -> Sequence[Entry]:
        """What of a path a search may be worded with: queries go to banks and into logs.

        In a turn that is itself left out that is everything: no log keeps its text.
        """
        return path if self.why_no_retain is not None else self._without_left_out(path)

    def _without_left_out(self, path: Sequence[Entry]) -> tuple[Entry, ...]:
        identify = self._runtime.sanitiser.entry_id
        kept = without_marked_turns(path, self._marks)
        return tuple(entry for entry in kept if identify(entry.id) not in self._left_out)

    async def keepable(self, prompt: str) -> str:
        """What of a prompt may be on disk before its turn has ended.

        Of one that is left out that is its marks alone: they say so to whoever ends the turn.
        """
        await self.refresh()
        if self.choices.why_no_retain is not None:
            return ""
        if is_left_out(prompt, self._marks):
            return " ".join(mark for mark in self._marks if is_left_out(prompt, (mark,)))
        return self._runtime.sanitiser.text(prompt)

    async def refuses(self, tool: str) -> str | None:
        """Why a tool of the agent may not do its work; None when it may (s1/S-SES-4)."""
        if tool not in READS | WRITES:
            return None
        await self.refresh()
        why = self.why_no_recall if tool in READS else self.why_no_retain
        return None if why is None else f"Memory refuses {tool}: {why}. The user can change that."

    def quiet(self) -> AbstractContextManager[None]:
        """Around what is done for a turn: of one that is not written no log keeps the text."""
        return nullcontext() if self.why_no_retain is None else without_text()

    async def why_no_change(self) -> str | None:
        """Why the agent may change nothing of the bank itself; None when it may."""
        await self.refresh()
        if self._runtime.read_only:
            return "bank.read_only is set"
        return self.why_no_retain

    async def change(self, change: Callable[[Choices], Choices]) -> Choices:
        """Change the choices; what they are now."""
        self.choices = await self._store.change(self._session_id, change)
        return self.choices

    async def set_mode(self, mode: str) -> Choices:
        """Choose a mode; choosing one repairs a broken record (s1/S-SES-3).

        Raises:
            UsageError: There is no such mode.
        """
        chosen = next((known for known in MODES if known == mode), None)
        if chosen is None:
            raise UsageError(f"There is no mode {mode!r}; it is one of {', '.join(MODES)}.")
        return await self.change(lambda now: replace(now, mode=chosen))

    async def tag(self, tag: str, *, remove: bool = False) -> Choices:
        """Add a tag to everything that the session writes, or remove it (s1/S-SES-5).

        Raises:
            UsageError: It is blank, too long, or has control characters.
        """
        plain = tag.strip()
        if not is_tag(plain):
            raise UsageError(
                f"A tag has 1 to {MOST_TAG_CHARS} characters and no control characters."
            )

        def changed(now: Choices) -> Choices:
            rest = [known for known in now.tags if known != plain]
            return replace(now, tags=tuple(rest if remove else [*rest, plain]))

        return await self.change(changed)

    @property
    def _marks(self) -> tuple[str, ...]:
        return self._runtime.settings.security.opt_out_marks

    @property
    def _store(self) -> SessionChoices:
        return SessionChoices(self._runtime.sessions)

    @property
    def _retained(self) -> Retained:
        return Retained(self._runtime.queue, self._runtime.clock)
