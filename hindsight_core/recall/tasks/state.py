"""What is remembered of a session's tasks, in memory only (pi/T-01)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from hindsight_core.prompt_fields import TaskTurn
from hindsight_core.recall.tasks.history import told
from hindsight_core.turns import Boundary, Turn

if TYPE_CHECKING:
    from hindsight_core.transcript.entry import Entry


@dataclass(frozen=True, slots=True)
class Told:
    """A turn as it was told, and the detector's answer to it as it was written; or none.

    ``private``: known to this process only, and written down nowhere.
    """

    turn: TaskTurn
    verdict: str | None = None
    private: bool = False


@dataclass(frozen=True, slots=True)
class TaskState:
    """One session's tasks; values only, so that a turn that is taken back leaves no trace.

    Attributes:
        turns: Turns of the current task, oldest first.
        title: The current task's name; None while it has none.
        past_titles: Names of earlier tasks, oldest first.
        marker: The last entry that was told.
        compactions: Compactions of the path so far.
        begun: Whether a turn was seen since the session began or was compacted.
        named: The title comes from the detector; one that was guessed may still change.
    """

    turns: tuple[Told, ...] = ()
    title: str | None = None
    past_titles: tuple[str, ...] = ()
    marker: str | None = None
    compactions: int = 0
    begun: bool = False
    named: bool = False

    def boundary(self, turn: Turn) -> Boundary:
        """``session`` for the first turn and the first after a compaction (pi/T-10, T-17)."""
        compacted = _compactions(turn.entries) > self.compactions
        return "none" if self.begun and not compacted else "session"

    def heard(self, turn: Turn, *, keep: int) -> TaskState:
        """With this turn, before anything is decided about it; ``keep`` turns stay (pi/T-02)."""
        said = told(turn.prompt, _since(turn.entries, self.marker))
        new = Told(said, private=turn.is_private)
        return replace(
            self,
            turns=(*self.turns, new)[-max(2, keep) :],
            marker=turn.entries[-1].id if turn.entries else self.marker,
            compactions=_compactions(turn.entries),
            begun=True,
        )

    def same(self, verdict: str, *, title: str = "") -> TaskState:
        """The task goes on; it may have been given a name only now (pi/T-07, pi/D-11)."""
        named = replace(self, turns=(*self.turns[:-1], replace(self.turns[-1], verdict=verdict)))
        return replace(named, title=title, named=True) if title and not self.named else named

    def other(self, verdict: str, *, title: str, tail: int) -> TaskState:
        """Another task begins with the newest turn; ``tail`` earlier titles stay (pi/T-07)."""
        past = self.past_titles
        if self.title and self.title not in past:
            past = (*past, self.title)
        return replace(
            self,
            turns=(replace(self.turns[-1], verdict=verdict),),
            title=title,
            past_titles=past[-tail:] if tail > 0 else (),
            named=True,
        )

    def guessed(self, title: str) -> TaskState:
        """A name for a task that has none: the first one is never asked about (pi/D-11)."""
        return self if self.title or not title else replace(self, title=title)

    def compacted(self) -> TaskState:
        """The next turn is the first one after a compaction."""
        return replace(self, begun=False)

    def memo(self) -> dict[str, Any]:
        """As JSON, for a host whose next turn comes to another process."""
        return asdict(replace(self, turns=tuple(t for t in self.turns if not t.private)))

    @classmethod
    def from_memo(cls, memo: Mapping[str, Any]) -> TaskState:
        """What `memo` gave; a new state for what is no such thing."""
        try:
            turns = tuple(
                Told(
                    TaskTurn(**{**item["turn"], "files": tuple(item["turn"]["files"])}),
                    item["verdict"],
                )
                for item in memo["turns"]
            )
            past = tuple(memo["past_titles"])
            return cls(**{**memo, "turns": turns, "past_titles": past})
        except (KeyError, TypeError, AttributeError):
            return cls()


def _compactions(entries: Sequence[Entry]) -> int:
    return sum(entry.compaction for entry in entries)


def _since(entries: Sequence[Entry], marker: str | None) -> Sequence[Entry]:
    """What follows the marker; where it is gone, the last answer."""
    for place in range(len(entries) - 1, -1, -1):
        if entries[place].id == marker:
            return entries[place + 1 :]
    for place in range(len(entries) - 1, -1, -1):
        if entries[place].role == "user":
            return entries[place + 1 :]
    return ()
