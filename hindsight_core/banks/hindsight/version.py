"""Which features a server has: older ones accept unknown fields in silence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

Number = tuple[int, int, int]
UNKNOWN: Number = (0, 0, 0)
CURATION: Number = (0, 8, 2)  # PATCH of a fact, lists by state
SCORES: Number = (0, 8, 4)  # min_scores, prefer_observations
OPERATIONS: Number = (0, 8, 6)  # the operation id of a retain is its identity
GROUPS: Number = (0, 4, 18)  # tag_groups
STRATEGIES: Number = (0, 4, 19)  # a strategy of an item


@dataclass(frozen=True, slots=True)
class Version:
    """What ``GET /version`` tells; a server before 0.4 has none.

    Attributes:
        number: Its version; all zeros when it did not say.
        worker: It works off asynchronous writes.
    """

    number: Number = UNKNOWN
    worker: bool = True

    @classmethod
    def read(cls, answer: object) -> Version:
        """From the answer of the server; tolerant."""
        data: dict[str, Any] = answer if isinstance(answer, dict) else {}
        found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", str(data.get("api_version") or ""))
        if found is None:
            return cls()
        major, minor, patch = (int(part or 0) for part in found.groups())
        features = data.get("features")
        worker = features.get("worker") if isinstance(features, dict) else None
        return cls((major, minor, patch), worker is not False)

    def has(self, feature: Number) -> bool:
        """Whether a feature of this version is there."""
        return self.number >= feature

    @property
    def exactly_once(self) -> bool:
        """A write that is sent twice with one operation id happens once."""
        return self.worker and self.has(OPERATIONS)

    def __str__(self) -> str:
        return ".".join(map(str, self.number)) if self.number != UNKNOWN else "unknown"
