"""Our four states on a server that knows two: what is not valid says why in its reason."""

from __future__ import annotations

import re
from typing import Any

from hindsight_core.memory import FactState

_SUPERSEDED = re.compile(r"superseded by (\S+)\Z")
_PENDING = re.compile(r"pending(?:: (.*))?\Z", re.DOTALL)

State = tuple[FactState, str | None, str | None]


def read_state(item: dict[str, Any]) -> State:
    """State, reason and successor of a fact as the server tells it."""
    if item.get("state") != "invalidated":
        return "valid", None, None
    reason = str(item.get("invalidation_reason") or "") or None
    if found := _SUPERSEDED.match(reason or ""):
        return "superseded", None, found[1]
    if found := _PENDING.match(reason or ""):
        return "pending", found[1], None
    return "invalidated", reason, None


def state_changes(
    state: FactState, *, reason: str | None = None, superseded_by: str | None = None
) -> dict[str, Any]:
    """What to send for a state (pi/H-09)."""
    if state == "valid":
        return {"state": "valid"}
    if state == "superseded":
        reason = f"superseded by {superseded_by or 'unknown'}"
    elif state == "pending":
        reason = f"pending: {reason}" if reason else "pending"
    changes: dict[str, Any] = {"state": "invalidated"}
    if reason:
        changes["reason"] = reason
    return changes
