"""What of a session active memory looks at: the user's messages, and the agent's runs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from hindsight_core.transcript.entry import ToolCall
from hindsight_core.transcript.rendered import rendered

if TYPE_CHECKING:
    from hindsight_core.transcript.entry import Entry

CAUSE_LIMIT = 2000


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the user, and what stands before it."""

    entry: Entry
    before: tuple[Entry, ...]

    @property
    def key(self) -> str:
        """Names it in every session that holds it, such as a fork."""
        return _key("message", self.entry.id, self.entry.text)

    def context(self, limit: int) -> str:
        """The talk before it."""
        return rendered(self.before, limit=limit)


@dataclass(frozen=True, slots=True)
class Investigation:
    """The agent's work from a request until it has nothing more to do (am/A-ASST-1).

    Attributes:
        request: The message that it began with.
        entries: Everything from there on.
    """

    request: Entry
    entries: tuple[Entry, ...]

    @property
    def key(self) -> str:
        """Names it; a run that went on later is another one."""
        return _key("run", self.request.id, self.entries[-1].id)

    @property
    def elapsed_ms(self) -> int | None:
        """From the request to the last entry; None where they have no times."""
        last = self.entries[-1].timestamp
        if self.request.timestamp is None or last is None:
            return None
        return max(0, (last - self.request.timestamp) // timedelta(milliseconds=1))

    @property
    def cause(self) -> str:
        """The request, as a prompt shows it."""
        return self.request.text.strip()[:CAUSE_LIMIT]

    def text(self, limit: int) -> str:
        """What the agent said and its tools gave back; none of the user's words."""
        return rendered([entry for entry in self.entries if entry.role != "user"], limit=limit)


def messages(entries: Sequence[Entry]) -> list[Message]:
    """The user's messages of an active path, oldest first."""
    return [
        Message(entry, tuple(entries[:number]))
        for number, entry in enumerate(entries)
        if _is_said(entry)
    ]


def investigations(entries: Sequence[Entry]) -> list[Investigation]:
    """The agent's runs of an active path, oldest first.

    What the user says while tools are still being called belongs to the run.
    """
    found: list[Investigation] = []
    start: int | None = None
    settled = True
    for number, entry in enumerate(entries):
        if _is_said(entry) and settled:
            if start is not None:
                found.append(Investigation(entries[start], tuple(entries[start:number])))
            start, settled = number, False
        elif entry.role == "assistant":
            settled = not any(isinstance(part, ToolCall) for part in entry.parts)
        elif entry.role == "tool":
            settled = False
    if start is not None:
        found.append(Investigation(entries[start], tuple(entries[start:])))
    return [run for run in found if len(run.entries) > 1]


def _is_said(entry: Entry) -> bool:
    return entry.role == "user" and not entry.synthetic and bool(entry.text.strip())


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:32]
