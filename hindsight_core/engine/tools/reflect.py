"""``hindsight_reflect``: a composed answer from the bank (pi/G-03)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.tools.base import TEXT, BadArgument, ToolResult, schema, text
from hindsight_core.memory import Query

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.engine.live import LiveSession


class ReflectTool:
    """Asks the bank, or a model where the bank cannot compose."""

    name = "hindsight_reflect"
    parameters = schema({"query": TEXT}, "query")

    def __init__(self, live: LiveSession) -> None:
        self._runtime = live.runtime

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """The answer, with the ids of the facts that it used."""
        from hindsight_core.recall.reflect import reflect

        runtime, bank = self._runtime, self.bank(arguments)
        answer = await reflect(
            bank, runtime.stages, self.asked(arguments, bank), sanitiser=runtime.sanitiser
        )
        details = {"outcome": answer.outcome, "facts": list(answer.fact_ids)}
        return ToolResult(answer.text, is_error=answer.outcome == "failed", details=details)

    def asked(self, arguments: Mapping[str, Any], bank: Bank) -> Query:
        """The question."""
        query = text(arguments, "query")
        if not query:
            raise BadArgument("`query` is needed: the question to answer.")
        return Query(text=query)

    def bank(self, arguments: Mapping[str, Any]) -> Bank:
        """The bank that is asked."""
        return self._runtime.bank
