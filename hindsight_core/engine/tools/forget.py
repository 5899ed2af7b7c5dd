"""``hindsight_forget``: retire one fact, restorable (protocol.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.tools.base import TEXT, BadArgument, ToolResult, failed, schema, text
from hindsight_core.errors import BankError, ProviderError, StorageError

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession


class ForgetTool:
    """Retires a fact that is wrong; a pinned one is refused by the bank."""

    name = "hindsight_forget"
    parameters = schema({"id": TEXT, "reason": TEXT}, "id", "reason")

    def __init__(self, live: LiveSession) -> None:
        self._runtime = live.runtime

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Says what was retired and how it is brought back."""
        runtime = self._runtime
        fact_id, reason = text(arguments, "id"), text(arguments, "reason")
        if not fact_id or not reason:
            raise BadArgument("`id` and `reason` are needed; hindsight_recall shows ids.")
        if runtime.read_only:
            return failed("bank.read_only is set: nothing is written.")
        own = fact_id.removeprefix(f"{runtime.bank_id}:")
        try:
            fact = await runtime.bank.set_state(
                own, "invalidated", reason=runtime.sanitiser.text(reason)
            )
        except (BankError, ProviderError, StorageError) as error:
            return failed(f"Not retired: {error}")
        return ToolResult(
            f"retired: {fact.text} (restore with `hindsight-mem facts restore {fact_id}`)",
            details={"outcome": "retired", "facts": [f"{runtime.bank_id}:{own}"]},
        )
