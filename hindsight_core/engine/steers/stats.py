"""What active memory did in one session, counted from its activity (am/A-TOOL)."""

from __future__ import annotations

from collections.abc import Mapping

NAMES = ("memoriesCreated", "recallAttempts", "memorySteers", "useful", "unhelpful")


class Stats:
    """Counters; a listener of the activity log.

    Attributes:
        counts: By name, as users of the plugin know them.
    """

    def __init__(self) -> None:
        self.counts = dict.fromkeys(NAMES, 0)

    def take(self, kind: str, fields: Mapping[str, object]) -> None:
        """An entry of the activity log."""
        name = _counted(kind, fields)
        if name is not None:
            self.counts[name] += 1

    def resume(self, kept: object) -> None:
        """Go on where an earlier process stood; what is no count is passed over."""
        if not isinstance(kept, Mapping):
            return
        for name in NAMES:
            count = kept.get(name)
            if isinstance(count, int) and not isinstance(count, bool) and count > 0:
                self.counts[name] += count

    @property
    def lines(self) -> list[str]:
        """One counter a line."""
        return [f"{name}: {count}" for name, count in self.counts.items()]

    @property
    def line(self) -> str:
        """All of them in one."""
        return " · ".join(self.lines)


def _counted(kind: str, fields: Mapping[str, object]) -> str | None:
    if kind == "feedback.recorded":
        outcome = fields.get("outcome")
        return str(outcome) if outcome in ("useful", "unhelpful") else None
    if kind == "capture.stored":
        return "memoriesCreated" if fields.get("created", True) else None
    return {"recall.started": "recallAttempts", "steer.queued": "memorySteers"}.get(kind)
