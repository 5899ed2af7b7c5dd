"""Calls of one Hindsight server: its token, its breakers, its refusals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from hindsight_core.banks.breaker import BankBreaker
from hindsight_core.banks.hindsight.errors import ServerError, refused
from hindsight_core.banks.hindsight.token import Token
from hindsight_core.banks.http import Answer, Server, count
from hindsight_core.errors import BankError

if TYPE_CHECKING:
    import httpx

    from hindsight_core.config.settings.bank import Hindsight
    from hindsight_core.services import Clock

SHORT_S = 5.0

Purpose = Literal["read", "write"]


class Client:
    """Sends JSON to one server and reads JSON.

    Reads and writes have a breaker each: a document that the server cannot digest does not
    switch recall off.

    Args:
        settings: Address, namespace, token, limit of a request.
        clock: Aware UTC now.
        transport: For tests; None for the network.
    """

    def __init__(
        self,
        settings: Hindsight,
        *,
        clock: Clock,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.namespace = settings.namespace.strip().strip("/")
        self._server = Server(
            settings.base_url,
            section="hindsight",
            address_key="base_url",
            timeout_s=settings.timeout_ms / 1000,
            transport=transport,
        )
        self._token = Token(settings)
        self._clock = clock
        self._breakers: dict[Purpose, BankBreaker] = {
            "read": BankBreaker(f"the Hindsight server at {self.shown}", clock=clock),
            "write": BankBreaker(f"writing to the Hindsight server at {self.shown}", clock=clock),
        }

    @property
    def shown(self) -> str:
        """The address without credentials and query, for messages."""
        return self._server.shown

    @property
    def timeout_s(self) -> float:
        """Limit of a request."""
        return self._server.timeout_s

    @property
    def prefix(self) -> str:
        """Path of the namespace."""
        return f"/v1/{quote(self.namespace, safe='')}"

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
        purpose: Purpose = "read",
    ) -> Any:  # noqa: ANN401 - JSON
        """Call the server; None for an empty answer.

        Args:
            method: HTTP method.
            path: After the server's address, already quoted.
            body: Sent as JSON.
            params: Query; those that are None are left out.
            timeout_s: Limit of this call; that of the settings when None.
            purpose: Whose breaker counts it.

        Raises:
            ServerError: An error status.
            BankError: Unreachable, too slow, left alone for now, or no JSON.
        """
        breaker = self._breakers[purpose]
        breaker.check()
        try:
            try:
                result = await self._send(method, path, body, params, timeout_s)
            except ServerError as error:
                if error.status != 401 or not self._token.renew():
                    raise
                result = await self._send(method, path, body, params, timeout_s)
        except ServerError as error:
            count(breaker, error)
            raise
        except BankError as error:
            breaker.failure(str(error))
            raise
        except BaseException:
            breaker.abandon()
            raise
        breaker.success()
        return result

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._server.close()

    async def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        params: Mapping[str, Any] | None,
        timeout_s: float | None,
    ) -> Any:  # noqa: ANN401 - JSON
        answer = await self._server.send(
            method,
            path,
            content=None if body is None else _encoded(body),
            params={k: v for k, v in (params or {}).items() if v is not None} or None,
            headers=self._headers(None if body is None else "application/json"),
            timeout_s=timeout_s,
        )
        if answer.status >= 300:
            raise refused(answer, namespace=self.namespace, clock=self._clock)
        return _decoded(answer)

    def _headers(self, content_type: str | None) -> dict[str, str]:
        token = self._token.value()
        headers = {"content-type": content_type} if content_type else {}
        return {**headers, "authorization": f"Bearer {token}"} if token else headers


def _encoded(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _decoded(answer: Answer) -> Any:  # noqa: ANN401 - JSON
    if not answer.text.strip():
        return None
    try:
        return json.loads(answer.text)
    except (ValueError, RecursionError):
        raise BankError(
            f"{answer.call}: not a JSON document. Check that hindsight.base_url is a Hindsight "
            "server."
        ) from None
