"""pi's session records as protocol entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hindsight_core.transcript.readers.pi import read_branch
from hindsight_core.transcript.wire import entry_to_wire


def wire_entries(records: Sequence[Any]) -> list[dict[str, Any]]:
    """Records of the active branch, in order, as protocol entries."""
    return [
        entry_to_wire(entry) for entry in read_branch(r for r in records if isinstance(r, dict))
    ]
