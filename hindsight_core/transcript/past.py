"""Sessions that a host program keeps from earlier days, to be imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from hindsight_core.transcript.entry import Transcript

if TYPE_CHECKING:
    from hindsight_core.transcript.readers.base import TranscriptReader

Agents = frozenset[str]


@dataclass(frozen=True, slots=True)
class PastSession:
    """One session as a host has it on disk; nothing but its beginning has been read.

    Attributes:
        host: The agent program, as in ``bridge --host NAME``.
        session_id: As the host names it to a running bridge: so a session that was memorized
            while it ran is known.
        source: Where it is, for people: a file, or a row of a database.
        updated: When it was last written to; UTC, aware.
        read: Reads the active path. Given names of agents, only what belongs to them and to no
            named agent; raises `TranscriptError`.
        cwd: The folder that the session itself recorded; None when it recorded none. It is never
            made from a name.
        agents: Those that speak in it, where agents may have banks of their own.
        options: The host's options, as its bridge passes them (``initialize.config``).
        child: It is a sub-agent's: its result stands in its parent.
        forked_from: The session whose beginning it repeats, entry by entry under the same ids.
    """

    host: str
    session_id: str
    source: str
    updated: datetime
    read: Callable[[Agents | None], Transcript]
    cwd: str | None = None
    agents: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    child: bool = False
    forked_from: str | None = None


@runtime_checkable
class PastSessionsHost(Protocol):
    """A host that can list the sessions which its program has kept.

    Attributes:
        name: The host's name.
    """

    name: str

    def past_sessions(self, env: Mapping[str, str]) -> Iterable[PastSession]:
        """Every session on this machine, in any order; what cannot be read is still listed.

        Args:
            env: The environment; it tells where the program keeps them.
        """
        ...


@runtime_checkable
class ReadingHost(Protocol):
    """A host that brings readers of its program's session files, for ``remember FILE``."""

    def transcript_readers(self) -> Sequence[TranscriptReader]:
        """Asked before the built-in ones, which would take some of these files for theirs."""
        ...
