"""``hindsight_reflect`` with all that can be asked for (s1/S-TOOL-2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.tools.base import (
    TEXT,
    BadArgument,
    choice,
    names,
    schema,
    switch,
    text,
    whole,
)
from hindsight_core.engine.tools.recall_full import BUDGETS, MOST_TOKENS
from hindsight_core.engine.tools.reflect import ReflectTool
from hindsight_core.engine.tools.tag_groups import PARAMETERS, wanted
from hindsight_core.memory import Query, Scope
from hindsight_core.recall.scopes import BankScope, kinds_of

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank


class FullReflectTool(ReflectTool):
    """The same question with context, effort and conditions, of any bank that is read here."""

    parameters = schema(
        {
            **ReflectTool.parameters["properties"],
            "context": TEXT,
            "bank": TEXT,
            "budget": {"type": "string", "enum": list(BUDGETS)},
            "maxTokens": {"type": "integer", "minimum": 1, "maximum": MOST_TOKENS},
            "factTypes": {"type": "array", "items": TEXT},
            "excludeMentalModels": {"type": "boolean"},
            "excludeMentalModelIds": {"type": "array", "items": TEXT},
            **PARAMETERS,
        },
        "query",
    )

    def asked(self, arguments: Mapping[str, Any], bank: Bank) -> Query:
        """The question within the bank's scope."""
        tokens, kinds = None, names(arguments, "factTypes")
        if arguments.get("maxTokens") is not None:
            tokens = whole(arguments, "maxTokens", default=1, top=MOST_TOKENS)
        more: dict[str, object] = {}
        if switch(arguments, "excludeMentalModels"):
            more["exclude_mental_models"] = True
        if ids := names(arguments, "excludeMentalModelIds"):
            more["exclude_mental_model_ids"] = list(ids)
        query = replace(
            super().asked(arguments, bank),
            context=text(arguments, "context"),
            budget=choice(arguments, "budget", BUDGETS) or "mid",
            max_tokens=tokens,
            scope=Scope(kinds=kinds_of(kinds, observations=bank.capabilities.observations)),
            more=more,
        )
        scope = self._runtime.recall_scopes.get(bank.id) or BankScope(bank.id)
        narrowed = scope.narrow(query, wanted(arguments))
        return replace(narrowed, max_tokens=tokens)

    def bank(self, arguments: Mapping[str, Any]) -> Bank:
        """The project's, or the one that is named."""
        runtime = self._runtime
        named = text(arguments, "bank")
        if named is None or named == runtime.bank_id:
            return runtime.bank
        if named not in runtime.recall_scopes:
            raise BadArgument(
                f"`bank` must be one that is read here: {', '.join(runtime.recall_scopes)}."
            )
        return runtime.open_bank(named)
