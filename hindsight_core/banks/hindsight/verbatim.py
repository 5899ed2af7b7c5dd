"""Documents that come with facts of ours: stored word for word, each under its own id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hindsight_core.banks.hindsight.ensure import VERBATIM, ensure_verbatim
from hindsight_core.banks.hindsight.facts import OWN, Facts, Held
from hindsight_core.banks.hindsight.hits import RECORD, STORED, record_of
from hindsight_core.banks.hindsight.states import state_changes
from hindsight_core.banks.hindsight.version import STRATEGIES
from hindsight_core.errors import BankError
from hindsight_core.identity import fact_id as identity_of
from hindsight_core.memory import Receipt

if TYPE_CHECKING:
    from hindsight_core.banks.hindsight.api import Api, Json
    from hindsight_core.banks.hindsight.side import Side
    from hindsight_core.memory import Document, Fact
    from hindsight_core.services import Clock

BATCH = 50


@dataclass(slots=True)
class Verbatim:
    """Stores facts as they are: a document of the server for each, which no model reads.

    So a sentence is on the server once, keeps its id, and can really be deleted. Which of our
    documents hold it is in the side table.

    Attributes:
        api: The bank's calls.
        facts: Facts of the bank.
        side: Documents and their members, pins, deleted sentences.
        clock: Dates what is stored.
        ready: The bank knows the strategy.
    """

    api: Api
    facts: Facts
    side: Side
    clock: Clock
    ready: bool = False

    async def store(self, document: Document) -> Receipt:
        """Store a document and its facts, replacing the document of the same id."""
        before = await self.side.members(document.id)
        old = await self.side.document(document.id)
        changed = old is None and not document.facts
        changed |= old is not None and (old.text, old.context) != (document.text, document.context)
        forgotten = frozenset() if document.explicit else await self.side.forgotten()
        held: dict[str, Fact] = {}
        new: dict[str, Fact] = {}
        real: dict[str, str] = {}
        for fact in document.facts or ():
            if identity_of(fact.text) in forgotten:
                continue
            known = await self._known(fact)
            if known is None:
                new.setdefault(fact.id, _placed(document, fact))
                real[fact.id] = fact.id
                continue
            after = await self._again(known, fact, document, repeated=known.fact.id in before)
            changed |= after is not known.fact
            held[after.id] = after
            real[fact.id] = after.id
        await self.write(list(new.values()))
        ids = list(dict.fromkeys(real.values()))
        changed |= await self._leave(document.id, [i for i in before if i not in ids]) or bool(new)
        await self.side.put(document, ids)
        for by, gone in document.supersedes:
            by, gone = real.get(by, by), real.get(gone, gone)
            changed |= await self.facts.supersede(gone, by=by)
        live = [i for i in ids if (held | new)[i].state in ("valid", "pending")]
        return Receipt("stored" if changed else "known", document.id, tuple(live))

    async def write(self, facts: Sequence[Fact]) -> None:
        """Put facts on the server, with their states and pins.

        Raises:
            BankError: The server is too old to keep a text as it is.
        """
        if not facts:
            return
        await self._prepare()
        now = self.clock()
        order = int(now.timestamp() * 1_000_000)
        whole = [replace(f, created_at=f.created_at or now) for f in facts]
        for start in range(0, len(whole), BATCH):
            part = whole[start : start + BATCH]
            items = [_item(f, order=order + start + n) for n, f in enumerate(part)]
            await self.api.retain(items)
        for fact in whole:
            if fact.state != "valid":
                await self._set_state(fact)
            if fact.pinned:
                await self.side.pin(fact.id, pinned=True)
            await self.side.allow(identity_of(fact.text))

    async def remove(self, fact_id: str) -> None:
        """Delete a fact of ours from the server."""
        await self.api.delete_document(OWN + fact_id)
        await self.side.drop_fact(fact_id)

    async def _prepare(self) -> None:
        if self.ready:
            return
        version = await self.api.version()
        if not version.has(STRATEGIES):
            raise BankError(
                f"this server (version {version}) rewrites what it is given; "
                f"{'.'.join(map(str, STRATEGIES))} is needed to store facts as they are",
                retryable=False,
            )
        await ensure_verbatim(self.api)
        self.ready = True

    async def _known(self, fact: Fact) -> Held | None:
        identity = identity_of(fact.text)
        found = await self.facts.find(identity) or await self.facts.same_sentence(fact.text)
        return found or (await self.facts.find(fact.id) if fact.id != identity else None)

    async def _again(self, known: Held, fact: Fact, document: Document, *, repeated: bool) -> Fact:
        """What becomes of a fact that the bank holds when it is said again."""
        after = known.fact
        edited = identity_of(after.text) != identity_of(fact.text)
        if edited and document.explicit:
            # A person's correction outlives a replay, but not a new statement of theirs.
            after = await self.facts.edit(after.id, text=fact.text, tags=None)
        if await self._revives(after, fact, explicit=document.explicit, repeated=repeated):
            after = await self.facts.set_state(after.id, "valid")
        return after

    async def _revives(self, held: Fact, said: Fact, *, explicit: bool, repeated: bool) -> bool:
        """Invalidated: only when a person asks; superseded: also when it is said later."""
        if held.state == "valid" or explicit:
            return held.state != "valid"
        if held.state == "pending":
            return said.state == "valid" and not repeated
        if held.state == "invalidated" or repeated:
            return False
        by = await self.facts.find(held.superseded_by) if held.superseded_by else None
        theirs = by.fact.timestamp if by else None
        return said.timestamp is None or theirs is None or said.timestamp >= theirs

    async def _leave(self, document_id: str, gone: Sequence[str]) -> bool:
        """Facts that a document no longer says; pinned and invalidated ones are kept."""
        for fact_id in gone:
            if await self.side.elsewhere(fact_id, document_id):
                continue
            held = await self.facts.find(fact_id)
            if held and held.own and not held.fact.pinned and held.fact.state != "invalidated":
                await self.remove(fact_id)
        return bool(gone)

    async def _set_state(self, fact: Fact) -> None:
        held = await self.facts.find(fact.id)
        if held is not None and held.fact.state != fact.state:
            changes = state_changes(
                fact.state, reason=fact.reason, superseded_by=fact.superseded_by
            )
            await self.api.patch_fact(held.server_id, changes)


def _placed(document: Document, fact: Fact) -> Fact:
    return replace(
        fact,
        document_id=document.id,
        timestamp=fact.timestamp or document.timestamp,
        tags=fact.tags or document.tags,
    )


def _item(fact: Fact, *, order: int) -> Json:
    said = fact.timestamp or fact.created_at
    item: Json = {
        "content": fact.text,
        "document_id": OWN + fact.id,
        "strategy": VERBATIM,
        "metadata": {**fact.metadata, RECORD: record_of(fact), STORED: f"{order:020d}"},
    }
    if fact.tags:
        item["tags"] = list(fact.tags)
    if said:
        item["timestamp"] = said.isoformat()
    return item
