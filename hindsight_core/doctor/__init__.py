"""``doctor``: the real path end to end, and what to do where it does not hold."""

from __future__ import annotations

from hindsight_core.doctor.examine import examine
from hindsight_core.doctor.findings import Check, Finding, Level

__all__ = ["Check", "Finding", "Level", "examine"]
