"""Documents whose facts the server finds itself: sent as text, watched until they are in."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hindsight_core.banks.hindsight.facts import Facts
from hindsight_core.banks.hindsight.version import OPERATIONS
from hindsight_core.errors import BankError
from hindsight_core.identity import fact_id
from hindsight_core.memory import Receipt

if TYPE_CHECKING:
    from hindsight_core.banks.hindsight.api import Api, Json
    from hindsight_core.banks.hindsight.side import Side
    from hindsight_core.memory import Document, Fact
    from hindsight_core.services import Clock

WAIT_S = 45.0
_PAUSES_S = (0.05, 0.1, 0.2, 0.4, 0.8)
_LONGEST_PAUSE_S = 1.5


@dataclass(frozen=True, slots=True)
class Extraction:
    """Sends documents for extraction.

    Attributes:
        api: The bank's calls.
        facts: Facts of the bank.
        side: Keeps the identity of a write until it has ended.
        clock: Dates a document without a time of its own.
        strategy: A retain strategy of the bank, by name.
        wait_s: How long a write is watched; the queue asks again later.
    """

    api: Api
    facts: Facts
    side: Side
    clock: Clock
    strategy: str | None = None
    wait_s: float = WAIT_S

    async def store(
        self, document: Document, *, append: bool = False, operation: str | None = None
    ) -> Receipt:
        """Store a document and wait for its facts.

        A server from 0.8.6 works in the background under an operation id, so that a write which
        is sent again after a crash or a lost answer happens once, and a failed extraction is
        seen (pi/D-24). An older one is called synchronously and replaces by document id.

        Raises:
            BankError: Not stored; or not known yet, which is retryable and repeats nothing.
        """
        if document.explicit:
            retired: dict[str, str | None] = {}
        else:
            deleted = dict.fromkeys(await self.side.forgotten(), "deleted")
            retired = {**deleted, **await self.facts.retired()}
        await self._send(document, append=append, key=operation)
        found = await self.facts.of_document(document.id)
        live = await self._retire_again(found, retired)
        await self._supersede(document, live)
        return Receipt("stored", document.id, tuple(fact.id for fact in live))

    async def _send(self, document: Document, *, append: bool, key: str | None) -> None:
        version = await self.api.version()
        item = retain_item(document, now=self.clock(), strategy=self.strategy)
        if append:
            if not version.exactly_once:
                raise BankError(
                    f"this server (version {version}) appends twice when a write is repeated; "
                    f"{'.'.join(map(str, OPERATIONS))} is needed, or store a document of its own",
                    retryable=False,
                )
            item["update_mode"] = "append"
        if not version.exactly_once:
            await self.api.retain([item])
            return
        digest = _digest(document, append=append, key=key)
        operation = await self.side.operation(document.id, digest)
        answer = await self.api.retain([item], operation_id=operation, background=True)
        operation = str(answer.get("operation_id") or operation)
        # With a key of its own it keeps its identity: the queue may not have noted the end.
        await self._watch(document.id, operation, forget=key is None)

    async def _watch(self, document_id: str, operation: str, *, forget: bool) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + self.wait_s
        for number in range(10_000):
            told = await self.api.operation(operation)
            status = told.get("status")
            if status == "completed":
                if forget:
                    await self.side.operation_ended(document_id)
                return
            if status in ("failed", "cancelled", "not_found"):
                await self.side.operation_ended(document_id)
                reason = told.get("error_message") or status
                raise BankError(f"the server did not store {document_id}: {reason}")
            pause = _PAUSES_S[number] if number < len(_PAUSES_S) else _LONGEST_PAUSE_S
            if loop.time() + pause > until:
                break
            await asyncio.sleep(pause)
        raise BankError(
            f"the server still works on {document_id} after {self.wait_s:g} s "
            f"(operation {operation}); it is asked again later"
        )

    async def _retire_again(self, found: list[Fact], retired: dict[str, str | None]) -> list[Fact]:
        """A sentence that a person took back does not return with another document."""
        live = []
        for fact in found:
            if fact_id(fact.text) not in retired:
                live.append(fact)
                continue
            reason = retired[fact_id(fact.text)]
            await self.facts.set_state(fact.id, "invalidated", reason=reason)
        return live

    async def _supersede(self, document: Document, live: list[Fact]) -> None:
        stored = {fact_id(fact.text): fact.id for fact in live}
        for new, old in document.supersedes:
            await self.facts.supersede(old, by=stored.get(new, new))


def retain_item(document: Document, *, now: datetime, strategy: str | None = None) -> Json:
    """The item of a document: what is not there is left out, metadata are texts (pi/H-05)."""
    item: dict[str, Any] = {"content": document.text}
    if document.context:
        item["context"] = document.context
    if document.tags:
        item["tags"] = list(document.tags)
    if document.entities:
        item["entities"] = [{"text": name} for name in document.entities]
    if document.observation_scopes:
        item["observation_scopes"] = [list(scope) for scope in document.observation_scopes]
    if document.metadata:
        item["metadata"] = {str(k): str(v) for k, v in document.metadata.items()}
    item["timestamp"] = (document.timestamp or now).isoformat()
    item["document_id"] = document.id
    if strategy:
        item["strategy"] = strategy
    return item


def _digest(document: Document, *, append: bool, key: str | None = None) -> str:
    parts: list[Any] = [document.text, document.context, list(document.tags)]
    parts += [dict(document.metadata), append, *([] if key is None else [key])]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
