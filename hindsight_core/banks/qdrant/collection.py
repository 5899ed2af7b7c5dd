"""The collection: created once, with its embedder written into it, checked at every start."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hindsight_core.banks.qdrant.client import QdrantError
from hindsight_core.banks.qdrant.points import INDEXES, bare_point, point_id
from hindsight_core.banks.vector.ledger import other_embedder
from hindsight_core.errors import BankError

if TYPE_CHECKING:
    from hindsight_core.banks.qdrant.client import Client

_WAIT = {"wait": "true"}
_THERE_ALREADY = (400, 409)


class Collection:
    """One collection.

    Its embedder's identity is in a point of its own, the metadata point.

    Args:
        client: The server.
        name: The collection.
    """

    def __init__(self, client: Client, name: str) -> None:
        self.name = name
        self.dimensions = 0
        self._client = client
        self._meta = point_id("", "collection", "embedder")

    async def call(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        write: bool = False,
    ) -> Any:  # noqa: ANN401 - JSON
        """Call the server about this collection; a write is done when this returns.

        Raises:
            BankError: As `Client.request`.
        """
        place = f"/collections/{quote(self.name, safe='')}{path}"
        try:
            return await self._client.request(method, place, body, params=_WAIT if write else None)
        except QdrantError as error:
            if error.status == 404 and path:
                # Deleted under us: the next call creates it again.
                self.dimensions = 0
            raise

    async def open(self, *, identity: str, dimensions: Callable[[], Awaitable[int]]) -> None:
        """Create what is missing and check what is there; nothing the second time.

        Raises:
            BankError: It holds another embedder's vectors.
        """
        if self.dimensions:
            return
        size = await self._size()
        if size is None:
            size = await self._create(await dimensions())
        await self._check(identity, size)
        self.dimensions = size

    async def _size(self) -> int | None:
        try:
            found = await self.call("GET", "")
        except QdrantError as error:
            if error.status == 404:
                return None
            raise
        vectors = found.get("config", {}).get("params", {}).get("vectors", {})
        size = vectors.get("size") if isinstance(vectors, dict) else None
        if not isinstance(size, int):
            raise BankError(
                f"the collection {self.name} has named vectors, so another program made it. "
                "Choose another with qdrant.collection.",
                retryable=False,
            )
        return size

    async def _create(self, dimensions: int) -> int:
        try:
            await self.call(
                "PUT", "", {"vectors": {"size": dimensions, "distance": "Cosine"}}, write=False
            )
        except QdrantError as error:
            size = await self._size() if error.status in _THERE_ALREADY else None
            if size is None:
                raise
            return size
        for field, schema in INDEXES.items():
            body = {"field_name": field, "field_schema": schema}
            await self.call("PUT", "/index", body, write=True)
        return dimensions

    async def _check(self, identity: str, size: int) -> None:
        found = await self.call("POST", "/points", {"ids": [self._meta], "with_payload": True})
        held = str(found[0]["payload"].get("identity")) if found else None
        if held is None:
            # The embedder's first vector is refused by the server where the length differs.
            payload = {"type": "collection", "identity": identity, "dimensions": size}
            point = bare_point(self._meta, payload, dimensions=size)
            await self.call("PUT", "/points", {"points": [point]}, write=True)
        elif held != identity:
            raise BankError(
                other_embedder(f"the collection {self.name}", held, identity), retryable=False
            )
