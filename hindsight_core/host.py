"""What a host adapter is, and what a host program can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from hindsight_core.transcript.entry import Entry

BlockMode = Literal["persist", "replay", "turn"]


@dataclass(frozen=True, slots=True)
class HostCapabilities:
    """What the host declared in ``initialize`` (protocol.md).

    Attributes:
        complete: Answers ``host/complete`` and ``host/models`` with its own models.
        entries: Answers ``host/entries`` with the active path.
        credentials: Answers ``host/credentials``.
        steer: Can put a block into a running loop.
        status: Shows ``status/changed``.
        panel: Draws the panel's lines.
        tasks: Answers ``host/tasks``.
        blocks: What it does with a block.
    """

    complete: bool = False
    entries: bool = False
    credentials: bool = False
    steer: bool = False
    status: bool = False
    panel: bool = False
    tasks: bool = False
    blocks: BlockMode = "persist"

    @classmethod
    def from_wire(cls, declared: Mapping[str, Any]) -> HostCapabilities:
        """Read the declaration; what is unknown or of a wrong type counts as not declared."""
        names = {f.name for f in fields(cls)} - {"blocks"}
        flags = {name: declared.get(name) is True for name in names}
        blocks = declared.get("blocks")
        return cls(**flags, blocks=blocks if blocks in ("persist", "replay", "turn") else "persist")

    @property
    def names(self) -> frozenset[str]:
        """The declared flags by name."""
        flags = (f.name for f in fields(self) if f.name != "blocks")
        return frozenset(name for name in flags if getattr(self, name))


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a call may take, in milliseconds; an adapter lowers them to its host's own cuts."""

    turn_start_ms: int = 30_000
    turn_end_ms: int = 1_000
    compact_ms: int = 5_000
    session_end_ms: int = 60_000

    def wire(self) -> dict[str, int]:
        """The form of ``initialize.limits``."""
        return {
            "turnStartMs": self.turn_start_ms,
            "turnEndMs": self.turn_end_ms,
            "compactMs": self.compact_ms,
            "sessionEndMs": self.session_end_ms,
        }


class EngineApi(Protocol):
    """The canonical calls, as an adapter makes them: protocol.md's names, params and results."""

    async def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """One canonical call; never raises for a memory failure."""
        ...


@runtime_checkable
class HostAdapter(Protocol):
    """Turns one host's raw events into canonical calls, and their results into actions.

    An entry point of the group ``hindsight.hosts`` is a callable ``adapter(engine) ->
    HostAdapter``. The adapter holds no policy: it translates.

    Attributes:
        name: The host's name, as in ``bridge --host NAME``.
        limits: The upper bounds that this host can keep.
    """

    name: str
    limits: Limits

    async def event(self, name: str, payload: dict[str, Any]) -> Sequence[dict[str, Any]]:
        """Handle one raw event; gives the actions for the shim, in order."""
        ...


@runtime_checkable
class TaskStateReader(Protocol):
    """Reads a task list out of a transcript; None when this reader finds none."""

    def read(self, entries: Sequence[Entry]) -> str | None:
        """The task state as text."""
        ...
