"""The plain search behind the tool and the command line: no model, one list, best first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from hindsight_core.errors import BankError, ConfigError
from hindsight_core.memory import Hit, Query, Scope
from hindsight_core.recall.clip import clip, one_line
from hindsight_core.recall.keywords import has_substance
from hindsight_core.recall.merge import distinct
from hindsight_core.recall.quality import quality_pass
from hindsight_core.turns import Turn

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.plugins import Hooks

QUERY_CHARACTERS = 1200
MAX_LIMIT = 1000


class Cleans(Protocol):
    """The part of `hindsight_core.transcript.sanitise.Sanitiser` that recall needs."""

    def fact_text(self, text: str, *, limit: int = ...) -> str:
        """One line, repaired, redacted, bounded."""
        ...


def clean_hits(hits: list[Hit], sanitiser: Cleans | None, *, limit: int | None) -> list[Hit]:
    """Hits with sanitised texts; one of which nothing is left is dropped."""
    clean: list[Hit] = []
    for hit in hits:
        text = one_line(hit.fact.text)
        if sanitiser is not None:
            text = (
                sanitiser.fact_text(text)
                if limit is None
                else sanitiser.fact_text(text, limit=limit)
            )
        if text:
            clean.append(hit if text == hit.fact.text else _with_text(hit, text))
    if sanitiser is None:
        return clean
    return [_with_evidence(hit, sanitiser) if hit.evidence else hit for hit in clean]


async def search(
    banks: Mapping[str, Bank],
    text: str,
    *,
    bank: str | None = None,
    limit: int = 10,
    scope: Scope | None = None,
    asked: Query | None = None,
    narrow: Callable[[str, Query], Query] | None = None,
    hooks: Hooks | None = None,
    sanitiser: Cleans | None = None,
    max_characters: int | None = None,
) -> list[Hit]:
    """Facts for a query, each text once.

    Args:
        banks: Banks by id.
        text: What to look for; without a letter or digit nothing is found.
        bank: Only this one; None for all.
        limit: At most this many.
        scope: What may be found.
        asked: How hard the banks look, how much they tell, and the floors that they apply; its
            other fields do not count.
        narrow: Puts each bank's own scope around a query.
        hooks: Plugins that may drop, reorder or mask hits.
        sanitiser: Cleans the texts.
        max_characters: Bound of one text.

    Raises:
        BankError: No bank answered; one that did is enough.
        ConfigError: There is no bank of that name.
    """
    if bank is not None and bank not in banks:
        raise ConfigError(f"no bank {bank!r} here. Banks: {', '.join(banks) or 'none'}.")
    if not has_substance(text):
        return []
    chosen = [banks[bank]] if bank is not None else list(banks.values())
    query = replace(
        asked or Query(""),
        text=clip(text.strip(), QUERY_CHARACTERS),
        limit=max(1, min(limit, MAX_LIMIT)),
        scope=scope or Scope(),
    )
    found = await _ask_all(chosen, query, narrow)
    hits = clean_hits(list(quality_pass(found, {}).kept), sanitiser, limit=max_characters)
    if hooks is not None:
        turn = Turn(id="search", session_id="", prompt=text, banks=tuple(b.id for b in chosen))
        hits = list(await hooks.filter_hits(turn, query, hits))
    return list(distinct(hits, limit=query.limit))


async def _ask_all(
    banks: list[Bank], query: Query, narrow: Callable[[str, Query], Query] | None
) -> list[Hit]:
    asked = [narrow(bank.id, query) if narrow else query for bank in banks]
    answers = await asyncio.gather(
        *(bank.recall(own) for bank, own in zip(banks, asked, strict=True)), return_exceptions=True
    )
    lists: list[list[Hit]] = []
    failure: BankError | None = None
    for answer in answers:
        if isinstance(answer, BankError):
            failure = answer
        elif isinstance(answer, BaseException):
            raise answer
        else:
            lists.append(answer)
    if failure is not None and not lists:
        raise failure
    # Scores of two banks are not comparable: a stable sort keeps each bank's own order.
    return sorted((hit for found in lists for hit in found), key=lambda hit: -hit.score)


def _with_evidence(hit: Hit, sanitiser: Cleans) -> Hit:
    return replace(hit, evidence=tuple(map(sanitiser.fact_text, hit.evidence)))


def _with_text(hit: Hit, text: str) -> Hit:
    return replace(hit, fact=replace(hit.fact, text=text))
