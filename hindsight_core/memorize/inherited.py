"""What the plugin that is replaced has memorized of a session already (pi/M-04, pi/M-07).

It kept that in the session itself. Its documents are on a Hindsight server, so it counts for a
bank there; in any other bank nothing of it is, and the session is memorized from its start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.transcript.record import STATE

if TYPE_CHECKING:
    from hindsight_core.transcript.entry import Entry
    from hindsight_core.transcript.windows import SavedRange

BACKEND = "hindsight"


@dataclass(frozen=True, slots=True)
class Inherited:
    """What is behind a session.

    Attributes:
        watermark: The last entry that is dealt with; None for none.
        ranges: Saved ranges ``(after, last]`` behind it.
    """

    watermark: str | None = None
    ranges: tuple[SavedRange, ...] = ()


def inherited(path: Sequence[Entry]) -> Inherited:
    """The records of a path, folded: of each value the last one counts."""
    watermark: str | None = None
    ranges: tuple[SavedRange, ...] = ()
    ids = {entry.id for entry in path}
    for entry in path:
        if entry.record is None or entry.record.name != STATE:
            continue
        data = entry.record.data
        if data.get("watermark") in ids:
            watermark = data["watermark"]
        if isinstance(data.get("ranges"), list):
            ranges = tuple((first, last) for first, last in data["ranges"])
    return Inherited(watermark, ranges)
