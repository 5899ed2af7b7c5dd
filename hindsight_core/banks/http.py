"""One server of a bank over HTTP: a shared client, bounded answers, typed errors, a breaker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from hindsight_core.errors import BankError

if TYPE_CHECKING:
    import httpx

    from hindsight_core.banks.breaker import BankBreaker

CONNECT_S = 5.0
AT_ONCE = 8
PAUSE_S = 5.0
MAX_ANSWER_BYTES = 64_000_000
SHOWN_CHARACTERS = 300
_LATER = frozenset({408, 409, 425, 429})


class StatusError(BankError):
    """The server answered with an error status.

    Attributes:
        status: The HTTP status.
        detail: What it said, short.
    """

    later: frozenset[int] = _LATER

    def __init__(
        self, message: str, *, status: int, detail: str, retry_after: float | None = None
    ) -> None:
        retryable = status in self.later or status >= 500
        super().__init__(message, retryable=retryable, retry_after=retry_after)
        self.status = status
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, read whole.

    Attributes:
        call: Method and address, for messages.
        status: The HTTP status.
        headers: Its headers.
        text: Its body.
    """

    call: str
    status: int
    headers: Mapping[str, str]
    text: str


class Server:
    """Sends requests to one address.

    Args:
        base_url: Its address.
        section: The settings section that a person can change, such as ``qdrant``.
        address_key: The key in it that holds the address.
        timeout_s: Limit of a request.
        transport: For tests; None for the network.
    """

    def __init__(
        self,
        base_url: str,
        *,
        section: str,
        address_key: str,
        timeout_s: float,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._base = base_url.rstrip("/")
        self._section = section
        self._address = f"{section}.{address_key}"
        self.timeout_s = timeout_s
        self._transport = transport
        self._client: httpx.AsyncClient | None = None

    @property
    def shown(self) -> str:
        """The address without credentials and query, for messages."""
        parts = urlsplit(self._base)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    async def send(
        self,
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> Answer:
        """One request, whatever its status.

        Raises:
            BankError: Unreachable, too slow, or an answer without end.
        """
        import httpx

        limit = timeout_s or self.timeout_s
        call = f"{method} {self.shown}{path}"
        try:
            async with self._open().stream(
                method,
                f"{self._base}{path}",
                content=content,
                params=params,
                headers=headers,
                timeout=httpx.Timeout(limit, connect=min(CONNECT_S, limit)),
            ) as response:
                text = await _read(response, call)
        except httpx.TimeoutException as error:
            raise BankError(
                f"{call}: no answer within {limit:g} s. It may be busy; raise "
                f"{self._section}.timeout_ms if this repeats."
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise BankError(
                f"{call}: cannot be reached: {error or type(error).__name__}. Start the server, "
                f"or set {self._address}."
            ) from error
        return Answer(call, response.status_code, response.headers, text)

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    def _open(self) -> httpx.AsyncClient:
        import httpx

        if self._client is None:
            self._client = httpx.AsyncClient(
                transport=self._transport,
                limits=httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE),
            )
        return self._client


def count(breaker: BankBreaker, error: StatusError) -> None:
    """Tell a breaker what an error status says about the server."""
    if error.status == 429:
        wait = error.retry_after
        breaker.pause(PAUSE_S if wait is None else wait, error.detail or "it is asked too often")
    elif error.status >= 500:
        breaker.failure(str(error))
    else:
        # It answered: a refusal is no sign that it is down.
        breaker.success()


def short(text: str) -> str:
    """A server's words on one line, bounded."""
    return " ".join(text.split())[:SHOWN_CHARACTERS]


async def _read(response: httpx.Response, call: str) -> str:
    found = bytearray()
    async for chunk in response.aiter_bytes():
        found += chunk
        if len(found) > MAX_ANSWER_BYTES:
            raise BankError(f"{call}: more than {MAX_ANSWER_BYTES} bytes", retryable=False)
    return found.decode("utf-8", "replace")
