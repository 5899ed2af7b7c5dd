"""From candidate facts to a stored document; windows and notes go the same way."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.errors import BankError
from hindsight_core.hookspecs import Resolution
from hindsight_core.identity import fact_id
from hindsight_core.memorize.context import retain_context, retain_metadata
from hindsight_core.memorize.document import build
from hindsight_core.memorize.invalidate import Orphans
from hindsight_core.memorize.neighbours import find_neighbours, retired_by_hand
from hindsight_core.memorize.report import MemorizeReport, Retired
from hindsight_core.memorize.reviewing import HELD, Reviewing
from hindsight_core.memorize.run import current
from hindsight_core.memorize.shortlist import Shortlist
from hindsight_core.memorize.similar import restates
from hindsight_core.memory import Receipt
from hindsight_core.state.jobs import WindowMark
from hindsight_core.state.retained import TranscriptMark

if TYPE_CHECKING:
    from hindsight_core.memorize.parts import Parts
    from hindsight_core.memorize.target import Target
    from hindsight_core.memory import Document, Fact, Hit

logger = logging.getLogger("hindsight_core.memorize")
KNOWN = "everything found is in the bank already"
RETIRED = "what was found has been invalidated before"


class Store:
    """Resolves candidates against the bank and writes what is left.

    Args:
        parts: Bank, outbox, hooks and what else a run works with.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._orphans = Orphans(parts)
        self._reviewing = Reviewing(parts)

    async def store(self, candidates: Sequence[Fact], target: Target) -> MemorizeReport:
        """Store what the bank does not hold.

        Returns:
            ``known`` without a write when it holds all of it, else what became of the write.

        Raises:
            StorageError: The write could not be made durable.
        """
        resolutions, orphans = await self._resolve(candidates, target)
        held = _held_by_the_bank(candidates, resolutions)
        if not target.keep and all(item.action == "skip" for item in resolutions):
            report = self._report(
                "known",
                target,
                stored=tuple(item.fact for item in held) if target.explicit else (),
                known=len(held),
                reason=KNOWN if held else RETIRED,
            )
            retired = await self._orphans.retire(orphans) if held else ()
            return replace(report, retired=retired)
        return await self.resolved(resolutions, target, orphans=orphans, known=len(held))

    async def resolved(
        self,
        resolutions: Sequence[Resolution],
        target: Target,
        *,
        orphans: Sequence[Retired] = (),
        known: int = 0,
    ) -> MemorizeReport:
        """Store what was decided about; raises as `store`."""
        document = await self._document(resolutions, target)
        if self._reviewing.holds(target):
            receipt = await self._hold(document, target, orphans)
            orphans = ()
        else:
            receipt = await self._write(document, target)
            await self._reviewing.enter(document, target, receipt)
        await self._parts.hooks.after_store(receipt)
        report = self._stored(receipt, document, resolutions, target, known=known)
        replaced = [old for _, old in document.supersedes]
        if report.outcome == "failed":
            return report
        return replace(report, retired=await self._orphans.retire(orphans, replaced=replaced))

    async def _write(self, document: Document, target: Target) -> Receipt:
        return await self._parts.outbox.store(
            self._parts.bank,
            document,
            window=target.window,
            session_id=target.session_id,
            again=target.explicit or target.replaces is not None,
        )

    async def _hold(
        self, document: Document, target: Target, orphans: Sequence[Retired]
    ) -> Receipt:
        """Store it in a form that is not recalled; a bank that finds facts itself waits for it."""
        retire = [(item.id, item.quote) for item in orphans]
        part = await self._reviewing.hold(document, target, retire=retire)
        if part is not None:
            receipt = await self._write(part, target)
            return replace(receipt, reason=receipt.reason or HELD)
        bank = self._parts.bank.id
        match target.window:
            case WindowMark() as window:
                await self._parts.sessions.set_cursor(bank, window.session_id, window.last_entry_id)
            case TranscriptMark() as window:
                await self._parts.retained.settle(bank, window)
        return Receipt("stored", document.id, reason=HELD)

    async def _resolve(
        self, candidates: Sequence[Fact], target: Target
    ) -> tuple[list[Resolution], tuple[Retired, ...]]:
        """One decision each, and what the window retires; the very words need no comparing."""
        decided: dict[str, Resolution] = {}
        retired = () if target.explicit else await retired_by_hand(self._parts.bank)
        likely = Shortlist(old.text for old in retired)
        gone = {old.id for old in retired}
        for fact in candidates:
            held = await self._held(fact.id)
            if (
                held is not None
                # What a person asks to keep needs no review: it makes a pending fact valid.
                and held.state in (("valid",) if target.explicit else ("valid", "pending"))
                and held.document_id not in (target.replaces or ())
            ):
                decided[fact.id] = Resolution("skip", held, held.id, "known")
            elif fact.id in gone or any(
                restates(fact.text, retired[number].text) for number in likely.related(fact.text)
            ):
                decided[fact.id] = Resolution("skip", fact, reason=RETIRED)
        left = [fact for fact in candidates if fact.id not in decided]
        found, orphans = await self._compare(left, target) if left else ([], ())
        return [*decided.values(), *found], orphans

    async def _compare(
        self, candidates: Sequence[Fact], target: Target
    ) -> tuple[list[Resolution], tuple[Retired, ...]]:
        stages = self._parts.stages
        neighbours = await find_neighbours(
            self._parts.bank,
            candidates,
            stages=stages if current().ask and stages.available("retain") else None,
            language=self._parts.language,
        )
        if target.replaces:
            neighbours = _but_of(target.replaces, neighbours)
        hits = [hit for near in neighbours.values() for hit in near]
        orphans = await self._orphans.find(hits, target)
        resolved = await self._parts.hooks.resolve_facts(candidates, neighbours)
        if resolved is None:
            return [Resolution("add", fact) for fact in candidates], orphans
        return [replace(item, fact=self._clean(item.fact)) for item in resolved], orphans

    async def _held(self, identity: str) -> Fact | None:
        try:
            return await self._parts.bank.get_fact(identity)
        except BankError as error:
            logger.info("cannot look up a fact: %s", error)
            return None

    async def _document(self, resolutions: Sequence[Resolution], target: Target) -> Document:
        """The document, with what an earlier one of this id holds: writing replaces (br/BR-05)."""
        parts, given = self._parts, target.particulars
        labels = await parts.labelled(session_id=target.session_id, host=target.host)
        document = build(
            parts.bank,
            resolutions,
            document_id=target.document_id,
            headings=parts.headings,
            tags=tuple(dict.fromkeys([*target.tags, *labels.tags])),
            metadata={
                **labels.metadata,
                **given.metadata,
                **retain_metadata(
                    source=target.source,
                    project=parts.project,
                    language=parts.language,
                    session_id=target.session_id,
                    host=target.host,
                ),
            },
            context=given.context
            or retain_context(
                parts.stages.prompts,
                project=parts.project,
                source=target.source,
                language=parts.language,
            ),
            timestamp=target.timestamp,
            explicit=target.explicit,
            text=target.text,
            earlier=await self._earlier(target),
            verbatim=target.verbatim,
        )
        document = replace(
            document,
            append=target.append,
            entities=tuple(dict.fromkeys([*labels.entities, *given.entities])),
            observation_scopes=given.observation_scopes or labels.observation_scopes,
        )
        changed = await parts.hooks.before_store(document)
        return parts.sanitiser.document(changed, limit=parts.fact_limit)

    async def _earlier(self, target: Target) -> Document | None:
        whole = target.keep and self._parts.bank.capabilities.extracts
        if whole or target.document_id in (target.replaces or ()):
            return None
        try:
            return await self._parts.bank.get_document(target.document_id)
        except BankError as error:
            logger.info("cannot look up a document: %s", error)
            return None

    def _clean(self, fact: Fact) -> Fact:
        """A resolver may have worded it anew: then it is another sentence."""
        clean = self._parts.sanitiser.fact(fact, limit=self._parts.fact_limit)
        return replace(clean, id=fact_id(clean.text))

    def _stored(
        self,
        receipt: Receipt,
        document: Document,
        resolutions: Sequence[Resolution],
        target: Target,
        *,
        known: int,
    ) -> MemorizeReport:
        new = {item.fact.id: item.fact for item in resolutions if item.action != "skip"}
        final = {fact.id: fact for fact in document.facts or ()}
        if receipt.outcome in ("stored", "known") and document.facts is not None:
            # A bank leaves out what a person deleted from it for good.
            held = set(receipt.fact_ids)
            new = {key: fact for key, fact in new.items() if key in held}
        done = receipt.outcome != "failed"
        return self._report(
            receipt.outcome,
            target,
            stored=tuple(final.get(key, fact) for key, fact in new.items()) if done else (),
            known=known,
            superseded=len({old for _, old in document.supersedes}) if done else 0,
            reason=receipt.reason,
        )

    def _report(
        self,
        outcome: str,
        target: Target,
        *,
        stored: tuple[Fact, ...] = (),
        known: int = 0,
        superseded: int = 0,
        reason: str | None = None,
    ) -> MemorizeReport:
        return MemorizeReport(
            outcome=outcome,  # type: ignore[arg-type]
            document_id=None if outcome == "known" and not stored else target.document_id,
            stored=stored,
            known=known,
            superseded=superseded,
            reason=reason,
        )


def _but_of(
    documents: frozenset[str], neighbours: Mapping[str, Sequence[Hit]]
) -> dict[str, tuple[Hit, ...]]:
    return {
        key: tuple(hit for hit in hits if hit.fact.document_id not in documents)
        for key, hits in neighbours.items()
    }


def _held_by_the_bank(
    candidates: Sequence[Fact], resolutions: Sequence[Resolution]
) -> list[Resolution]:
    """Those skipped since the bank has them; not what was said twice or taken back just now."""
    own = {fact.id for fact in candidates}
    return [
        item
        for item in resolutions
        if item.action == "skip"
        and item.reason != RETIRED
        and not (item.target in own and item.target != item.fact.id)
    ]
