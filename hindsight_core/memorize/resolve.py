"""Add, replace or skip each candidate against what the bank holds (pi/M-17, br/BR-16).

Comparing comes first and is never overruled: the same statement is skipped, a changed value
supersedes, and so does what says all of a stored fact and adds to it. What stays new is shown to
the model, where there is one, which sees other wordings and other languages. A failed model leaves
the candidates as they are (never "everything is known").
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.errors import BudgetExceeded, ProviderError
from hindsight_core.hookspecs import Resolution
from hindsight_core.identity import normalise
from hindsight_core.memorize.run import current
from hindsight_core.memorize.shortlist import Shortlist
from hindsight_core.memorize.similar import numbers, relation, statement
from hindsight_core.prompt_contexts import Dedup
from hindsight_core.prompt_fields import FactLine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hindsight_core.memory import Fact, Hit
    from hindsight_core.stages import Stages

logger = logging.getLogger("hindsight_core.memorize")
MOST_KNOWN = 120
DEDUP_TOKENS = 2048
TAKEN_BACK = "taken back later in the same window"
SAID_FULLY = "said more fully later in the same window"


async def resolve(
    candidates: Sequence[Fact],
    neighbours: Mapping[str, Sequence[Hit]],
    *,
    stages: Stages | None,
) -> list[Resolution]:
    """One resolution a candidate, or several ``replace`` when it supersedes several facts."""
    found = compare(candidates, neighbours)
    known = _union(neighbours)
    fresh = [item for item in found if item.action == "add"]
    if stages is None or not known or not fresh:
        return found
    judged = await _ask(stages, [item.fact for item in fresh], known)
    return [judged.get(item.fact.id, item) if item.action == "add" else item for item in found]


def compare(
    candidates: Sequence[Fact], neighbours: Mapping[str, Sequence[Hit]]
) -> list[Resolution]:
    """Resolutions without a model; later candidates win over earlier ones of the same run."""
    decided: list[list[Resolution]] = []
    kept, places = Shortlist(), dict[str, int]()
    for candidate in candidates:
        near = {*kept.related(candidate.text), places.get(candidate.id, -1)} - {-1}
        earlier = [(n, o) for n in sorted(near) if (o := decided[n][0]).action != "skip"]
        twin = next((o for _, o in earlier if _relation(candidate, o.fact) == "same"), None)
        if twin is not None:
            decided.append([Resolution("skip", candidate, twin.fact.id, "said twice")])
            continue
        clashing = [(n, o) for n, o in earlier if _relation(candidate, o.fact) == "changed"]
        later = next((o for _, o in clashing if _older(candidate, o.fact)), None)
        if later is not None:
            decided.append([Resolution("skip", candidate, later.fact.id, TAKEN_BACK)])
            continue
        for number, other in clashing:
            decided[number] = [Resolution("skip", other.fact, candidate.id, TAKEN_BACK)]
            kept.remove(number)
        resolutions = _against(candidate, [hit.fact for hit in neighbours.get(candidate.id, ())])
        shorter = [(n, o) for n, o in earlier if _extends(candidate, o.fact)]
        if resolutions[0].action != "skip" and shorter:
            resolutions = _in_place_of(candidate, resolutions, [decided[n] for n, _ in shorter])
            for number, other in shorter:
                decided[number] = [Resolution("skip", other.fact, candidate.id, SAID_FULLY)]
                kept.remove(number)
        if resolutions[0].action != "skip":
            kept.add(len(decided), candidate.text)
            places[candidate.id] = len(decided)
        decided.append(resolutions)
    return [item for items in decided for item in items]


def _against(candidate: Fact, stored: Sequence[Fact]) -> list[Resolution]:
    relations = [(fact, _relation(candidate, fact)) for fact in stored]
    same = next((fact for fact, how in relations if how == "same"), None)
    if same is not None:
        return [Resolution("skip", candidate, same.id, "known")]
    changed = _unambiguous(candidate, [fact for fact, how in relations if how == "changed"])
    newer = next((fact for fact in changed if _older(candidate, fact)), None)
    if newer is not None:
        return [Resolution("skip", candidate, newer.id, "older than what the bank holds")]
    shorter = [fact for fact in stored if _extends(candidate, fact)]
    found = [
        Resolution("replace", candidate, fact.id, reason)
        for facts, reason in ((changed, "changed"), (shorter, "extended"))
        for fact in facts
        if not fact.pinned
    ]
    return found or [Resolution("add", candidate)]


def _in_place_of(
    candidate: Fact, resolutions: list[Resolution], shorter: Sequence[Sequence[Resolution]]
) -> list[Resolution]:
    """What supersedes for a candidate that takes the place of shorter ones: theirs and its own."""
    found = {item.target: item for item in resolutions if item.action == "replace"}
    for item in (item for items in shorter for item in items if item.action == "replace"):
        found.setdefault(item.target, replace(item, fact=candidate))
    return list(found.values()) or resolutions


def _extends(new: Fact, old: Fact) -> bool:
    """An older statement never takes the place of a later one, even if it says more."""
    return _relation(new, old) == "extended" and not _older(new, old)


def _relation(new: Fact, old: Fact) -> str:
    return "same" if new.id == old.id else relation(new.text, old.text)


def _unambiguous(candidate: Fact, changed: Sequence[Fact]) -> list[Fact]:
    """All that are about exactly the same subject; one that is about more only if it is alone."""
    subject = statement(candidate.text).subject
    exact = [fact for fact in changed if statement(fact.text).subject == subject]
    if exact:
        return exact
    return list(changed) if len(changed) == 1 else []


def _older(new: Fact, old: Fact) -> bool:
    return bool(new.timestamp and old.timestamp and new.timestamp < old.timestamp)


def _union(neighbours: Mapping[str, Sequence[Hit]]) -> list[Fact]:
    """Every neighbour once, the best first, at most 120 (pi/M-16)."""
    found: dict[str, Fact] = {}
    for hit in sorted((h for hits in neighbours.values() for h in hits), key=lambda h: -h.score):
        found.setdefault(normalise(hit.fact.text), hit.fact)
    return list(found.values())[:MOST_KNOWN]


async def _ask(
    stages: Stages, fresh: Sequence[Fact], known: Sequence[Fact]
) -> dict[str, Resolution]:
    from hindsight_core.memorize.answers import DedupAnswer

    current().calls += 1
    lines = tuple(FactLine(text=fact.text) for fact in fresh)
    held = tuple(FactLine(text=fact.text) for fact in known)
    try:
        answer = await stages.ask(
            "memorize/dedup",
            Dedup(lines, held),
            DedupAnswer,
            purpose="retain",
            max_tokens=DEDUP_TOKENS,
        )
    except (ProviderError, BudgetExceeded) as error:
        logger.info("memorize/dedup failed, nothing counts as known: %s", error)
        current().passed.append(f"memorize/dedup: {error}")
        return {}
    judged: dict[str, Resolution] = {}
    for number in answer.known:
        if 1 <= number <= len(fresh) and _holds_values(fresh[number - 1], known):
            fact = fresh[number - 1]
            judged[fact.id] = Resolution("skip", fact, reason="known")
    for update in answer.updates:
        if 1 <= update.fact <= len(fresh) and 1 <= update.known <= len(known):
            fact, old = fresh[update.fact - 1], known[update.known - 1]
            judged[fact.id] = _update(fact, old)
    return judged


def _update(fact: Fact, old: Fact) -> Resolution:
    if _older(fact, old):
        return Resolution("skip", fact, old.id, "older than what the bank holds")
    if old.pinned:
        return Resolution("add", fact, reason=f"{old.id} is pinned")
    return Resolution("replace", fact, old.id, "changed")


def _holds_values(fact: Fact, known: Sequence[Fact]) -> bool:
    """Whether some stored fact has every number of this one: another number is no duplicate."""
    values = numbers(fact.text)
    return not values or any(values <= numbers(old.text) for old in known)
