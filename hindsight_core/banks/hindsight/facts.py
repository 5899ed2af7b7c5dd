"""Facts on the server: looked up, listed, changed (pi/H-09, pi/H-11)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hindsight_core.banks.hindsight.errors import ServerError
from hindsight_core.banks.hindsight.hits import STORED, Found, fact_of, found_in
from hindsight_core.banks.hindsight.states import state_changes
from hindsight_core.banks.hindsight.version import CURATION
from hindsight_core.errors import BankError
from hindsight_core.identity import fact_id as identity_of

if TYPE_CHECKING:
    from hindsight_core.banks.hindsight.api import Api
    from hindsight_core.banks.hindsight.side import Side
    from hindsight_core.memory import Fact, FactState

OWN = "fact:"
"""Begin of the id of the server's document that holds one fact of ours."""
PAGE = 500
MOST_PAGES = 200
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_RETIRED = ("superseded", "invalidated")
_STORED = ("world", "experience")
_SERVER_STATES = ("valid", "invalidated")
_LONGEST_SEARCH = 200


@dataclass(frozen=True, slots=True)
class Held:
    """A fact and the server's own id for it."""

    fact: Fact
    server_id: str
    raw: Any

    @property
    def own(self) -> bool:
        """Whether we stored it word for word, in a document of its own."""
        return str(self.raw.get("document_id") or "").startswith(OWN)

    @property
    def observation(self) -> bool:
        """Derived by the server; it cannot be changed (pi/H-21)."""
        return self.fact.kind == "observation"

    @property
    def sources(self) -> list[str]:
        """Server ids of the facts that an observation is derived from."""
        found = self.raw.get("source_memory_ids") or self.raw.get("source_fact_ids")
        return [str(one) for one in found] if isinstance(found, list) else []


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of one bank.

    Attributes:
        api: The bank's calls.
        side: Pins.
    """

    api: Api
    side: Side

    async def find(self, fact_id: str) -> Held | None:
        """One fact in any state, by our id or the server's."""
        if _UUID.match(fact_id):
            try:
                return await self._held(await self.api.fact(fact_id))
            except ServerError as error:
                if not (error.no_such_thing or error.status == 400):
                    raise
        return await self._find_own(fact_id)

    async def _find_own(self, fact_id: str) -> Held | None:
        document = OWN + fact_id
        pages = await asyncio.gather(
            *(self._page(document_id=document, state=s, limit=1) for s in _SERVER_STATES)
        )
        # A server before 0.8.2 ignores the condition in silence.
        for found in (item for page in pages for item in found_in(page)):
            if found.raw.get("document_id") == document:
                return await self._held(found.raw)
        return None

    async def required(self, fact_id: str) -> Held:
        """One fact that can be changed.

        Raises:
            BankError: It is not there, or an observation.
        """
        held = await self.find(fact_id)
        if held is None:
            raise BankError(f"no fact {fact_id} in this bank", retryable=False)
        if held.observation:
            behind = ", ".join(held.sources) or "facts"
            raise BankError(
                f"{fact_id} is an observation, which the server derives. Change {behind} instead.",
                retryable=False,
            )
        return held

    async def of_document(self, document_id: str) -> list[Fact]:
        """Valid facts of a document that the server extracted, in their order."""
        page = await self._page(document_id=document_id, limit=PAGE)
        pinned = await self.side.pinned()
        held = [self._with_pin(found, pinned) for found in found_in(page) if _stored(found)]
        return [i.fact for i in reversed(held) if i.raw.get("document_id") == document_id]

    async def same_sentence(self, text: str) -> Held | None:
        """A valid fact that says the same, whoever stored it."""
        pages = await asyncio.gather(
            *(self._page(q=text[:_LONGEST_SEARCH], type=type_, limit=20) for type_ in _STORED)
        )
        for found in (item for page in pages for item in found_in(page)):
            if identity_of(found.text) == identity_of(text):
                return await self._held(found.raw)
        return None

    async def retired(self) -> dict[str, str | None]:
        """Sentences that a person invalidated, by identity, with the reason (newest 500)."""
        version = await self.api.version()
        if not version.has(CURATION):
            return {}
        page = await self._page(state="invalidated", limit=PAGE)
        facts = [fact_of(found) for found in found_in(page)]
        return {identity_of(f.text): f.reason for f in facts if f.state == "invalidated"}

    async def listing(
        self, *, state: FactState | None, search: str | None, document_id: str | None, most: int
    ) -> tuple[list[Held], int]:
        """The newest facts that match, at most so many, and how many there are.

        The server lists one type and one of its two states at a time.
        """
        states = {"valid": ["valid"], None: ["valid", "invalidated"]}.get(state, ["invalidated"])
        pages = await asyncio.gather(
            *(
                self._pages(
                    most if state in (None, "valid") else PAGE * MOST_PAGES,
                    type=type_,
                    state=server_state,
                    q=search,
                    document_id=document_id,
                )
                for type_ in _STORED
                for server_state in states
            )
        )
        found = [item for items, _ in pages for item in items]
        total = sum(count for _, count in pages)
        if state not in (None, "valid"):
            found = [item for item in found if item.fact.state == state]
            total = len(found)
        return sorted(found, key=_newest_first), total

    async def everything(self) -> AsyncIterator[Held]:
        """Every fact in every state, oldest first."""
        found, _ = await self.listing(
            state=None, search=None, document_id=None, most=PAGE * MOST_PAGES
        )
        for item in sorted(found, key=_oldest_first):
            yield item

    async def set_state(
        self,
        fact_id: str,
        state: FactState,
        *,
        reason: str | None = None,
        superseded_by: str | None = None,
    ) -> Fact:
        """Retire or restore; a pinned fact is not retired."""
        held = await self.required(fact_id)
        if state in _RETIRED and held.fact.pinned:
            raise BankError(f"fact {fact_id} is pinned; unpin it first", retryable=False)
        changes = state_changes(state, reason=reason, superseded_by=superseded_by)
        return await self._patched(held, changes)

    async def supersede(self, old: str, *, by: str) -> bool:
        """Retire an old fact for a new one; False for what is left alone.

        That is: unknown facts, pinned ones, those already retired, and observations of several
        facts, which the server brings up to date by itself (pi/H-09). For an observation of one
        fact, which a search gives in its place, that fact is retired.
        """
        held = await self.find(old)
        if held is not None and held.observation:
            held = await self.find(held.sources[0]) if len(held.sources) == 1 else None
        if held is None or held.fact.id == by or held.observation or held.fact.pinned:
            return False
        if held.fact.state != "valid":
            return False
        try:
            await self._patched(held, state_changes("superseded", superseded_by=by))
        except ServerError as error:
            if error.status in (400, 404):
                return False
            raise
        return True

    async def edit(self, fact_id: str, *, text: str | None, tags: Sequence[str] | None) -> Fact:
        """Change the text; tags only where the document holds this fact alone."""
        if text is not None and not text.strip():
            raise BankError(f"fact {fact_id} cannot be made empty", retryable=False)
        held = await self.required(fact_id)
        fact = held.fact
        if text is not None and text != fact.text:
            fact = await self._patched(held, {"text": text})
        if tags is not None and tuple(tags) != fact.tags:
            if not held.own:
                raise BankError(
                    f"the server keeps tags by document: those of fact {fact_id} are the tags of "
                    f"{fact.document_id}",
                    retryable=False,
                )
            await self.api.tag_document(str(held.raw["document_id"]), tags)
            fact = replace(fact, tags=tuple(tags))
        return fact

    async def _patched(self, held: Held, changes: dict[str, Any]) -> Fact:
        answer = await self.api.patch_fact(held.server_id, changes)
        again = await self._held({**held.raw, **answer})
        return again.fact if again else held.fact

    async def _pages(self, most: int, **params: str | int | None) -> tuple[list[Held], int]:
        pinned = await self.side.pinned()
        found: list[Held] = []
        total = 0
        while len(found) < most:
            page = await self._page(limit=min(PAGE, most - len(found)), offset=len(found), **params)
            items = found_in(page)
            total = int(page.get("total") or 0)
            found += [self._with_pin(item, pinned) for item in items]
            if not items or len(found) >= total:
                break
        return found, total

    async def _page(self, **params: str | int | None) -> dict[str, Any]:
        """A page of a listing; empty for a bank that is not there yet."""
        try:
            return await self.api.facts(**params)
        except ServerError as error:
            if error.no_such_bank:
                return {}
            raise

    async def _held(self, raw: Any) -> Held | None:  # noqa: ANN401 - JSON
        items = found_in([raw])
        return self._with_pin(items[0], await self.side.pinned()) if items else None

    def _with_pin(self, found: Found, pinned: frozenset[str]) -> Held:
        fact = fact_of(found)
        return Held(replace(fact, pinned=fact.id in pinned), found.id or "", found.raw)


def _stored(found: Found) -> bool:
    return found.type in (None, *_STORED)


def _newest_first(held: Held) -> tuple[float, str]:
    said = held.fact.timestamp or held.fact.created_at
    return (-(said.timestamp() if said else 0.0), held.server_id)


def _oldest_first(held: Held) -> tuple[int, str]:
    """Ours in order of storage, then those that the server extracted, by their last change."""
    stored = str(held.raw.get("metadata", {}).get(STORED) or "")
    return (0 if stored else 1, stored or str(held.raw.get("updated_at") or ""))
