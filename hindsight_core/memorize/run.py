"""What the parts of one run share, though hooks lie between them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.hookspecs import Resolution
    from hindsight_core.memory import Fact, Hit

    Merge = Callable[[Sequence[Fact], Mapping[str, Sequence[Hit]]], Awaitable[list[Resolution]]]


@dataclass(slots=True)
class Run:
    """One run of the pipeline.

    Attributes:
        ask: Whether models may be asked to compare with the bank.
        prior_summary: The session's rolling summary; empty for a first run or a resave.
        calls: Model calls so far.
        rejected: Reasons of items of answers that were left out.
        passed: Stages that failed and could be passed over, with the error.
        merge: Resolves in the place of the built-in rules; plugins come before it all the same.
    """

    ask: bool = True
    prior_summary: str = ""
    calls: int = 0
    rejected: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    merge: Merge | None = None

    def told(self, *, stored: bool) -> str | None:
        """What is worth telling about a run that went well otherwise."""
        told = []
        if self.rejected:
            told.append(f"{len(self.rejected)} item(s) of an answer left out: {self.rejected[0]}")
        if stored and self.passed:
            told.append(f"passed over: {self.passed[0]}")
        return "; ".join(told) or None


_CURRENT: ContextVar[Run | None] = ContextVar("hindsight_memorize_run", default=None)


def current() -> Run:
    """The run that this code works for; an unconnected one outside of a run."""
    return _CURRENT.get() or Run()


@contextmanager
def running(run: Run) -> Iterator[Run]:
    """Make a run the current one."""
    token = _CURRENT.set(run)
    try:
        yield run
    finally:
        _CURRENT.reset(token)
