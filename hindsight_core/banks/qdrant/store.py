"""A Qdrant collection as a `SharedVectorBank`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hindsight_core.banks.qdrant.filters import equal, mentions, scope_conditions
from hindsight_core.banks.qdrant.points import (
    Point,
    bare_point,
    fact_in,
    fact_payload,
    point_id,
    record_in,
    record_point,
)
from hindsight_core.memory import Fact, Hit, Query

if TYPE_CHECKING:
    from hindsight_core.banks.qdrant.client import Client
    from hindsight_core.banks.qdrant.collection import Collection
    from hindsight_core.banks.vector.shared import Record
    from hindsight_core.services import Clock

BATCH = 200
PAGE = 500
_REVISION = "revision"


class QdrantStore:
    """One bank in a collection; a collection may hold several, each apart from the others.

    Args:
        bank_id: The bank.
        collection: Where it is.
        client: The server, closed with the store.
        clock: Aware UTC now.
    """

    def __init__(
        self, bank_id: str, collection: Collection, *, client: Client, clock: Clock
    ) -> None:
        self.id = bank_id
        self._collection = collection
        self._client = client
        self._clock = clock

    async def open(self, *, identity: str, dimensions: Callable[[], Awaitable[int]]) -> None:
        """Create the collection, or check that its vectors are this embedder's."""
        await self._collection.open(identity=identity, dimensions=dimensions)

    async def add(self, facts: Sequence[Fact], vectors: Sequence[Sequence[float]]) -> None:
        """Upsert facts with their vectors."""
        points = [
            {
                "id": self._id(fact.id),
                "vector": [float(number) for number in vector],
                "payload": self._payload(fact),
            }
            for fact, vector in zip(facts, vectors, strict=True)
        ]
        await self._upsert(points)

    async def update(self, facts: Sequence[Fact]) -> None:
        """Overwrite payloads; the vectors stay."""
        for part in _parts(facts):
            operations = [
                {"overwrite_payload": {"payload": self._payload(f), "points": [self._id(f.id)]}}
                for f in part
            ]
            await self._call("POST", "/points/batch", {"operations": operations}, write=True)

    async def search(self, vector: Sequence[float], query: Query) -> list[Hit]:
        """Nearest valid facts that the scope allows."""
        mine = [equal("bank", self.id), equal("type", "fact"), equal("state", "valid")]
        body: dict[str, Any] = {
            "query": [float(number) for number in vector],
            "filter": {"must": [*mine, *scope_conditions(query.scope)]},
            "limit": query.limit,
            "with_payload": True,
        }
        if query.min_score is not None:
            body["score_threshold"] = query.min_score
        found = await self._call("POST", "/points/query", body)
        return [
            Hit(fact_in(point), self.id, float(point["score"]))
            for point in found["points"]
            if mentions(query.scope, point["payload"])
        ]

    async def get(self, fact_ids: Sequence[str]) -> list[Fact]:
        """Facts by id, those that exist."""
        found = await self._points([self._id(fact_id) for fact_id in fact_ids])
        return [fact_in(point) for point in found]

    async def delete(self, fact_ids: Sequence[str]) -> None:
        """Delete by id."""
        await self._delete([self._id(fact_id) for fact_id in fact_ids])

    async def scan(self) -> AsyncIterator[Fact]:
        """Every fact in every state."""
        async for point in self._scroll(["fact"]):
            yield fact_in(point)

    async def records(self) -> list[Record]:
        """Every record."""
        return [record_in(p) async for p in self._scroll(["document", "forgotten"])]

    async def put_records(self, records: Sequence[Record]) -> None:
        """Upsert by kind and key."""
        size = self._collection.dimensions
        await self._upsert([record_point(r, bank=self.id, dimensions=size) for r in records])

    async def drop_records(self, records: Sequence[Record]) -> None:
        """Delete by kind and key."""
        await self._delete([point_id(self.id, r.kind, r.key) for r in records])

    async def revision(self) -> str | None:
        """What the last writer named."""
        found = await self._points([point_id(self.id, _REVISION, "")])
        return str(found[0]["payload"][_REVISION]) if found else None

    async def set_revision(self, revision: str) -> None:
        """Name a new state."""
        payload = {"bank": self.id, "type": _REVISION, _REVISION: revision}
        identity, size = point_id(self.id, _REVISION, ""), self._collection.dimensions
        await self._upsert([bare_point(identity, payload, dimensions=size)])

    async def count(self) -> int:
        """Facts in every state, counted by the server."""
        found = await self._call("POST", "/points/count", {"filter": self._of(["fact"])})
        return int(found["count"])

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _id(self, fact_id: str) -> str:
        return point_id(self.id, "fact", fact_id)

    def _payload(self, fact: Fact) -> dict[str, Any]:
        return fact_payload(fact, bank=self.id, now=self._clock())

    def _of(self, types: Sequence[str]) -> dict[str, Any]:
        kinds = {"key": "type", "match": {"any": list(types)}}
        return {"must": [equal("bank", self.id), kinds]}

    async def _upsert(self, points: Sequence[Point]) -> None:
        for part in _parts(points):
            await self._call("PUT", "/points", {"points": part}, write=True)

    async def _delete(self, ids: Sequence[str]) -> None:
        for part in _parts(ids):
            await self._call("POST", "/points/delete", {"points": part}, write=True)

    async def _points(self, ids: Sequence[str]) -> list[Point]:
        found: list[Point] = []
        for part in _parts(ids):
            found += await self._call("POST", "/points", {"ids": part, "with_payload": True})
        return found

    async def _scroll(self, types: Sequence[str]) -> AsyncIterator[Point]:
        body = {"filter": self._of(types), "limit": PAGE, "with_payload": True}
        offset: str | int | None = None
        while True:
            page = await self._call(
                "POST", "/points/scroll", body if offset is None else {**body, "offset": offset}
            )
            for point in page["points"]:
                yield point
            offset = page.get("next_page_offset")
            if offset is None:
                return

    async def _call(
        self, method: str, path: str, body: dict[str, Any], *, write: bool = False
    ) -> Any:  # noqa: ANN401 - JSON
        return await self._collection.call(method, path, body, write=write)


def _parts(items: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(items), BATCH):
        yield list(items[start : start + BATCH])
