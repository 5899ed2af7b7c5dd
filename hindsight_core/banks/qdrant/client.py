"""Calls of one Qdrant server: its key, its breaker, its refusals."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.banks.breaker import BankBreaker
from hindsight_core.banks.http import Answer, Server, StatusError, count, short
from hindsight_core.errors import BankError
from hindsight_core.waits import retry_after

if TYPE_CHECKING:
    import httpx

    from hindsight_core.config.settings.bank import Qdrant
    from hindsight_core.services import Clock


class QdrantError(StatusError):
    """A Qdrant server answered with an error status."""


class Client:
    """Sends JSON to one server and reads the ``result`` of its answers.

    Args:
        settings: Address, name of the variable with the key, limit of a request.
        clock: Aware UTC now.
        transport: For tests; None for the network.
    """

    def __init__(
        self,
        settings: Qdrant,
        *,
        clock: Clock,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._key_env = settings.api_key_env
        self._clock = clock
        self._server = Server(
            settings.url,
            section="qdrant",
            address_key="url",
            timeout_s=settings.timeout_ms / 1000,
            transport=transport,
        )
        self._breaker = BankBreaker(f"the Qdrant server at {self.shown}", clock=clock)

    @property
    def shown(self) -> str:
        """The address without credentials and query, for messages."""
        return self._server.shown

    async def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        params: Mapping[str, str] | None = None,
    ) -> Any:  # noqa: ANN401 - JSON
        """Call the server; the ``result`` of its answer.

        Raises:
            QdrantError: An error status.
            BankError: Unreachable, too slow, left alone for now, or no answer of a Qdrant.
        """
        self._breaker.check()
        try:
            result = await self._send(method, path, body, params)
        except QdrantError as error:
            count(self._breaker, error)
            raise
        except BankError as error:
            self._breaker.failure(str(error))
            raise
        except BaseException:
            self._breaker.abandon()
            raise
        self._breaker.success()
        return result

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._server.close()

    async def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        params: Mapping[str, str] | None,
    ) -> Any:  # noqa: ANN401 - JSON
        answer = await self._server.send(
            method,
            path,
            content=None if body is None else json.dumps(body).encode(),
            params=params,
            headers=self._headers(),
        )
        if answer.status >= 300:
            raise self._refused(answer)
        return _result(answer)

    def _headers(self) -> dict[str, str]:
        headers = {"content-type": "application/json"}
        if self._key_env is None:
            return headers
        key = os.environ.get(self._key_env, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            what = "has characters that no header can carry" if key else "is not set"
            raise BankError(
                f"qdrant.api_key_env names {self._key_env}, which {what}. Export the key.",
                retryable=False,
            )
        return {**headers, "api-key": key}

    def _refused(self, answer: Answer) -> QdrantError:
        status, detail = answer.status, _said(answer.text)
        told = f" ({detail})" if detail else ""
        return QdrantError(
            f"{answer.call} -> {status}{told}. {self._advice(status)}",
            status=status,
            detail=detail,
            retry_after=retry_after(answer.headers, self._clock),
        )

    def _advice(self, status: int) -> str:
        if status in (401, 403):
            where = self._key_env
            return f"Check the key in {where}." if where else "Set qdrant.api_key_env."
        if status == 404:
            return "Check qdrant.url and qdrant.collection."
        if 300 <= status < 400:
            return "It redirects: set qdrant.url to its real address."
        if status == 429:
            return "It is asked too often; wait."
        if status >= 500:
            return "See the server's log; what is queued is tried again."
        return "A server before 1.10 does not know all that is asked of it."


def _said(text: str) -> str:
    """The message in ``{"status": {"error": ...}}``."""
    try:
        status = json.loads(text)["status"]["error"]
    except (ValueError, RecursionError, KeyError, TypeError):
        status = "" if "<" in text[:200] else text
    return short(str(status))


def _result(answer: Answer) -> Any:  # noqa: ANN401 - JSON
    try:
        found = json.loads(answer.text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or "result" not in found:
        raise BankError(f"{answer.call}: this is no answer of a Qdrant server. Check qdrant.url.")
    return found["result"]
