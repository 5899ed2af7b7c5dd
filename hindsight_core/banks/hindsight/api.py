"""The calls of one bank on a Hindsight server, each with its own limit of time (pi/H)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hindsight_core.banks.hindsight.client import SHORT_S
from hindsight_core.banks.hindsight.errors import ServerError
from hindsight_core.banks.hindsight.version import Version

if TYPE_CHECKING:
    from hindsight_core.banks.hindsight.client import Client

Json = dict[str, Any]


def segment(name: str) -> str:
    """One part of a path; the server's routes take no slash, even escaped, in a bank's name."""
    return quote(name.replace("/", "%2F"), safe="")


class Api:
    """What can be asked about one bank.

    Recall and retain may take twice the configured limit, reflect twelve times; what only looks
    at something takes 5 s at most (30, 180 and 5 s at the default of 15).

    Args:
        client: The server.
        bank_id: The bank.
    """

    def __init__(self, client: Client, bank_id: str) -> None:
        self.client = client
        self._bank = f"{client.prefix}/banks/{segment(bank_id)}"
        self._version: Version | None = None

    async def health(self) -> Json:
        """``GET /health`` (pi/H-01); open without a token, so it proves no token right."""
        return _object(await self.client.request("GET", "/health", timeout_s=self._short))

    async def version(self) -> Version:
        """``GET /version``, asked once; a server before 0.4 has none."""
        if self._version is None:
            try:
                answer = await self.client.request("GET", "/version", timeout_s=self._short)
            except ServerError as error:
                if error.status not in (401, 403, 404, 405):
                    raise
                answer = None
            self._version = Version.read(answer)
        return self._version

    async def banks(self) -> list[Json]:
        """``GET /banks`` of the namespace (pi/H-13)."""
        answer = await self.client.request("GET", f"{self.client.prefix}/banks")
        return _list(answer, "banks")

    async def put_bank(self, name: str) -> None:
        """Create the bank, or name it anew (pi/H-02)."""
        await self._call("PUT", "", body={"name": name}, purpose="write")

    async def stats(self) -> Json:
        """Counts (pi/H-03); without ``refresh`` they would be up to 60 s old."""
        return _object(
            await self._call("GET", "/stats", params={"refresh": "true"}, timeout_s=self._short)
        )

    async def config(self) -> Json:
        """The bank's configuration; ``overrides`` is what this bank set (pi/H-04)."""
        return _object(await self._call("GET", "/config", timeout_s=self._short))

    async def patch_config(self, updates: Mapping[str, Any]) -> None:
        """Set configuration keys; the server takes them only inside ``updates`` (pi/H-04)."""
        await self._call("PATCH", "/config", body={"updates": dict(updates)}, purpose="write")

    async def retain(
        self, items: Sequence[Json], *, operation_id: str | None = None, background: bool = False
    ) -> Json:
        """Store items (pi/H-05); in the background the answer comes before the work."""
        body: Json = {"items": list(items), "async": background}
        if operation_id is not None:
            body["operation_id"] = operation_id
        return _object(
            await self._call("POST", "/memories", body=body, timeout_s=self._long, purpose="write")
        )

    async def recall(self, body: Json) -> Any:  # noqa: ANN401 - whatever shape it has
        """Search (pi/H-06)."""
        return await self._call("POST", "/memories/recall", body=body, timeout_s=self._long)

    async def reflect(self, body: Json) -> Json:
        """A composed answer (pi/H-07)."""
        limit = 12 * self.client.timeout_s
        return _object(await self._call("POST", "/reflect", body=body, timeout_s=limit))

    async def document(self, document_id: str) -> Json:
        """One document with its text (pi/H-10)."""
        return _object(
            await self._call("GET", f"/documents/{_quoted(document_id)}", timeout_s=self._short)
        )

    async def documents(self, *, limit: int, offset: int) -> Json:
        """A page of documents, newest first."""
        return _object(
            await self._call("GET", "/documents", params={"limit": limit, "offset": offset})
        )

    async def delete_document(self, document_id: str) -> bool:
        """Delete a document with its facts; one that is not there is no error (pi/H-08)."""
        try:
            await self._call("DELETE", f"/documents/{_quoted(document_id)}", purpose="write")
        except ServerError as error:
            if error.no_such_thing:
                return False
            raise
        return True

    async def tag_document(self, document_id: str, tags: Sequence[str]) -> None:
        """Give a document and all its facts other tags."""
        path = f"/documents/{_quoted(document_id)}"
        await self._call("PATCH", path, body={"tags": list(tags)}, purpose="write")

    async def facts(self, **params: str | int | None) -> Json:
        """A page of facts, newest first (pi/H-11); ``state`` is valid when it is not given."""
        return _object(await self._call("GET", "/memories/list", params=params))

    async def fact(self, fact_id: str) -> Json:
        """One fact by the server's own id."""
        path = f"/memories/{segment(fact_id)}"
        return _object(await self._call("GET", path, timeout_s=self._short))

    async def patch_fact(self, fact_id: str, changes: Json) -> Json:
        """Change a fact (pi/H-09); observations are refused with 400 (pi/H-21)."""
        path = f"/memories/{segment(fact_id)}"
        return _object(await self._call("PATCH", path, body=changes, purpose="write"))

    async def operations(self, *, status: str | None = None, limit: int = 20) -> list[Json]:
        """Background work, newest first."""
        params = {"status": status, "limit": limit}
        return _list(await self._call("GET", "/operations", params=params), "operations")

    async def operation(self, operation_id: str) -> Json:
        """One piece of background work; an unknown one has the status ``not_found``."""
        return _object(
            await self._call("GET", f"/operations/{segment(operation_id)}", timeout_s=self._short)
        )

    async def mental_models(self) -> list[Json]:
        """Mental models with their contents, which the server leaves out unless asked."""
        params = {"detail": "full"}
        return _list(await self._call("GET", "/mental-models", params=params), "items")

    async def mental_model(self, model_id: str) -> Json:
        """One mental model (pi/H-12)."""
        return _object(await self._call("GET", f"/mental-models/{segment(model_id)}"))

    async def write(self, method: str, path: str, body: Json | None) -> Json:
        """A change that is not made often (s1/S-TOOL-2)."""
        return _object(await self._call(method, path, body=body, purpose="write"))

    async def _call(self, method: str, path: str, **options: Any) -> Any:  # noqa: ANN401
        return await self.client.request(method, f"{self._bank}{path}", **options)

    @property
    def _short(self) -> float:
        return min(SHORT_S, self.client.timeout_s)

    @property
    def _long(self) -> float:
        return 2 * self.client.timeout_s


def _quoted(document_id: str) -> str:
    return quote(document_id, safe="")


def _object(answer: object) -> Json:
    return answer if isinstance(answer, dict) else {}


def _list(answer: object, key: str) -> list[Json]:
    found = answer.get(key) if isinstance(answer, dict) else answer
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
