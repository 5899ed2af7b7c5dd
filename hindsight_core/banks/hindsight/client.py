"""One Hindsight server over HTTP: a shared client, bounded answers, typed errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlsplit, urlunsplit

from hindsight_core.banks.breaker import BankBreaker
from hindsight_core.banks.hindsight.errors import ServerError, refused
from hindsight_core.banks.hindsight.token import Token
from hindsight_core.errors import BankError

if TYPE_CHECKING:
    import httpx

    from hindsight_core.config.settings.bank import Hindsight
    from hindsight_core.services import Clock

MAX_ANSWER_BYTES = 32_000_000
CONNECT_S = 5.0
AT_ONCE = 8
PAUSE_S = 5.0
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
        self.timeout_s = settings.timeout_ms / 1000
        self.namespace = settings.namespace.strip().strip("/")
        self._base = settings.base_url.rstrip("/")
        self._token = Token(settings)
        self._clock = clock
        self._transport = transport
        self._client: httpx.AsyncClient | None = None
        self._breakers: dict[Purpose, BankBreaker] = {
            "read": BankBreaker(f"the Hindsight server at {self.shown}", clock=clock),
            "write": BankBreaker(f"writing to the Hindsight server at {self.shown}", clock=clock),
        }

    @property
    def shown(self) -> str:
        """The address without credentials and query, for messages."""
        parts = urlsplit(self._base)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

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
            _count(breaker, error)
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
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        params: Mapping[str, Any] | None,
        timeout_s: float | None,
    ) -> Any:  # noqa: ANN401 - JSON
        import httpx

        limit = timeout_s or self.timeout_s
        call = f"{method} {self.shown}{path}"
        try:
            async with self._open().stream(
                method,
                f"{self._base}{path}",
                content=None if body is None else _encoded(body),
                params={k: v for k, v in (params or {}).items() if v is not None} or None,
                headers=self._headers(body is not None),
                timeout=httpx.Timeout(limit, connect=min(CONNECT_S, limit)),
            ) as response:
                text = await self._read(response, call)
        except httpx.TimeoutException as error:
            raise BankError(
                f"{call}: no answer within {limit:g} s. It may be busy; raise "
                "hindsight.timeout_ms if this repeats."
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise BankError(
                f"{call}: cannot be reached: {error or type(error).__name__}. Start the server, "
                "or set hindsight.base_url."
            ) from error
        if response.status_code >= 300:
            raise refused(
                call,
                response.status_code,
                text,
                response.headers,
                namespace=self.namespace,
                clock=self._clock,
            )
        return _decoded(text, call)

    def _open(self) -> httpx.AsyncClient:
        import httpx

        if self._client is None:
            self._client = httpx.AsyncClient(
                transport=self._transport,
                limits=httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE),
            )
        return self._client

    def _headers(self, has_body: bool) -> dict[str, str]:  # noqa: FBT001
        token = self._token.value()
        headers = {"content-type": "application/json"} if has_body else {}
        return {**headers, "authorization": f"Bearer {token}"} if token else headers

    async def _read(self, response: httpx.Response, call: str) -> str:
        found = bytearray()
        async for chunk in response.aiter_bytes():
            found += chunk
            if len(found) > MAX_ANSWER_BYTES:
                raise BankError(f"{call}: more than {MAX_ANSWER_BYTES} bytes", retryable=False)
        return found.decode("utf-8", "replace")


def _count(breaker: BankBreaker, error: ServerError) -> None:
    if error.status == 429:
        wait = error.retry_after
        breaker.pause(PAUSE_S if wait is None else wait, error.detail or "it is asked too often")
    elif error.status >= 500:
        breaker.failure(str(error))
    else:
        # It answered: a refusal is no sign that it is down.
        breaker.success()


def _encoded(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _decoded(text: str, call: str) -> Any:  # noqa: ANN401 - JSON
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BankError(
            f"{call}: not a JSON document. Check that hindsight.base_url is a Hindsight server."
        ) from None
