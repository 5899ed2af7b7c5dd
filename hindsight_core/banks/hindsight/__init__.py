"""A bank on a Hindsight server, over HTTP."""

from __future__ import annotations

from hindsight_core.banks.hindsight.bank import HindsightBank
from hindsight_core.banks.hindsight.opening import open_hindsight

__all__ = ["HindsightBank", "open_hindsight"]
