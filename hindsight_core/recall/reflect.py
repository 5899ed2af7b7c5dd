"""Reflect: an answer composed of the facts found, with the ids that it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from hindsight_core.banks.base import ReflectingBank
from hindsight_core.errors import BankError, BudgetExceeded, PromptError, ProviderError
from hindsight_core.memory import Hit, Query
from hindsight_core.recall.escape import escape
from hindsight_core.recall.floor import evident
from hindsight_core.recall.lines import fact_lines
from hindsight_core.recall.search import Cleans, search

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.prompt_contexts import Reflect
    from hindsight_core.stages import Stages

LIMIT = 24
FEW = 5
MAX_TOKENS = 600


@dataclass(frozen=True, slots=True)
class Reflected:
    """A composed answer.

    Attributes:
        outcome: ``ok``; ``empty`` when the bank holds nothing about it; ``degraded`` when no
            model composed it and the facts are listed; ``failed`` when the bank failed.
        text: The answer, or what went wrong; never blank.
        fact_ids: Ids (``bank:id``) of the facts that it rests on.
        reason: Why, for everything but ``ok``.
    """

    outcome: Literal["ok", "empty", "degraded", "failed"]
    text: str
    fact_ids: tuple[str, ...] = ()
    reason: str | None = None


async def reflect(
    bank: Bank, stages: Stages, question: str | Query, *, sanitiser: Cleans | None = None
) -> Reflected:
    """Answer a question from a bank; one that reflects by itself is asked itself."""
    asked = Query(text=question) if isinstance(question, str) else question
    query = asked.text
    try:
        if bank.capabilities.reflects and isinstance(bank, ReflectingBank):
            own = await bank.reflect(asked)
            if own.text.strip():
                return Reflected("ok", own.text.strip(), own.fact_ids)
            return _empty()
        hits = await search(
            {bank.id: bank}, query, limit=LIMIT, scope=asked.scope, asked=asked, sanitiser=sanitiser
        )
    except BankError as error:
        return Reflected("failed", f"Bank {bank.id} failed: {error}", reason=str(error))
    return await _compose(stages, query, hits) if hits else _empty()


async def _compose(stages: Stages, query: str, hits: list[Hit]) -> Reflected:
    ids = tuple(hit.id for hit in hits)
    try:
        if not stages.available("recall"):
            return _listed(stages, query, hits, why="no model is configured for recall")
        text = await stages.write(
            "bank/reflect", _variables(query, hits), purpose="recall", max_tokens=MAX_TOKENS
        )
    except (ProviderError, BudgetExceeded, PromptError) as error:
        return _listed(stages, query, hits, why=str(error))
    used = tuple(fact_id for fact_id in ids if fact_id in text)
    return Reflected("ok", text, used or ids)


def _listed(stages: Stages, query: str, hits: list[Hit], *, why: str) -> Reflected:
    """What a model would have been given, less what it would have seen to be beside the point."""
    shown = evident(Query(text=query), hits) or tuple(hits[:FEW])
    text = stages.prompts.render("bank/reflect_listing", _variables(query, shown)).text.strip()
    return Reflected("degraded", text, tuple(hit.id for hit in shown), reason=why)


def _variables(query: str, hits: Sequence[Hit]) -> Reflect:
    from hindsight_core.prompt_contexts import Reflect

    lines = (replace(line, text=escape(line.text)) for line in fact_lines(hits))
    return Reflect(query=query, facts=tuple(lines))


def _empty() -> Reflected:
    return Reflected("empty", "(no relevant memory)", reason="the bank returned no facts")
