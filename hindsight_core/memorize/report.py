"""What one memorize run came to."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

from hindsight_core.identity import digest_id

if TYPE_CHECKING:
    from hindsight_core.memory import Fact

MemorizeOutcome = Literal["stored", "empty", "queued", "failed", "known", "skipped"]


@dataclass(frozen=True, slots=True)
class Retired:
    """A stored fact that a window retired.

    Attributes:
        id: Of the fact, in its bank.
        text: What it said.
        quote: The words of the window that say that its subject is gone.
    """

    id: str
    text: str
    quote: str


@dataclass(frozen=True, slots=True)
class MemorizeReport:
    """The result of a window or a note.

    Attributes:
        outcome: ``stored``; ``queued`` (durable here, the bank is away); ``known`` (the bank
            holds all of it); ``empty`` (looked, nothing worth keeping); ``skipped`` (did not
            look, or not at all of it); ``failed`` (not dealt with, tried again later unless the
            reason says that it was set aside).
        document_id: The document written, if one was.
        stored: The facts of the document; for ``known`` the ones that the bank holds.
        known: How many candidates the bank held already.
        superseded: How many stored facts were replaced.
        reason: Why, for everything but ``stored``.
        calls: Model calls made, repairs not counted.
        rejected: One reason for each item of an answer that was left out.
        retired: Stored facts that the window retired.
        vetoed: ``skipped`` for good, by the user's own command (`retain.before_enqueue`).
    """

    outcome: MemorizeOutcome
    document_id: str | None = None
    stored: tuple[Fact, ...] = ()
    known: int = 0
    superseded: int = 0
    reason: str | None = None
    calls: int = 0
    rejected: tuple[str, ...] = ()
    retired: tuple[Retired, ...] = ()
    vetoed: bool = False

    @property
    def logged(self) -> list[tuple[str, dict[str, object]]]:
        """Type and fields of its entries in the activity log.

        What was retired is one entry of its own, by which it can be restored (pi/I-07).
        """
        written: dict[str, object] = {
            "outcome": self.outcome,
            "reason": self.reason,
            "document": self.document_id,
            "facts": [fact.text for fact in self.stored],
            "known": self.known,
            "superseded": self.superseded,
        }
        entries = [("error" if self.outcome == "failed" else "retain", written)]
        if self.retired:
            ids = [item.id for item in self.retired]
            gone: dict[str, object] = {
                "id": digest_id(" ".join([self.document_id or "", *ids])),
                "document": self.document_id,
                "kills": [asdict(item) for item in self.retired],
            }
            entries.append(("invalidate", gone))
        return entries


def incomplete(report: MemorizeReport, missing: int) -> MemorizeReport:
    """The report on a session of which entries are missing: nobody can call that empty.

    Args:
        report: What a window came to.
        missing: How many entries of the session were left out when it was read.
    """
    if not missing or report.outcome != "empty":
        return report
    why = (
        f"{report.reason}, but {missing} entries were left out because the session is too large; "
        "split it into smaller files to have all of it looked at"
    )
    return replace(report, outcome="skipped", reason=why)
