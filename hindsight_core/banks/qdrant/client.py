"""One Qdrant server over HTTP: a shared client, bounded answers, typed errors, a breaker."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from hindsight_core.banks.breaker import BankBreaker
from hindsight_core.errors import BankError

if TYPE_CHECKING:
    import httpx

    from hindsight_core.config.settings.bank import Qdrant
    from hindsight_core.services import Clock

MAX_ANSWER_BYTES = 64_000_000
CONNECT_S = 5.0
AT_ONCE = 8
PAUSE_S = 5.0
SHOWN_CHARACTERS = 300
_LATER = frozenset({408, 409, 425, 429})


class QdrantError(BankError):
    """The server answered with an error status.

    Attributes:
        status: The HTTP status.
        detail: The start of what it said.
    """

    def __init__(
        self, message: str, *, status: int, detail: str, retry_after: float | None = None
    ) -> None:
        super().__init__(
            message, retryable=status in _LATER or status >= 500, retry_after=retry_after
        )
        self.status = status
        self.detail = detail


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
        self._base = settings.url.rstrip("/")
        self._key_env = settings.api_key_env
        self._timeout_s = settings.timeout_ms / 1000
        self._transport = transport
        self._client: httpx.AsyncClient | None = None
        self._breaker = BankBreaker(f"the Qdrant server at {self.shown}", clock=clock)

    @property
    def shown(self) -> str:
        """The address without credentials and query, for messages."""
        parts = urlsplit(self._base)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

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
            self._count(error)
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
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        params: Mapping[str, str] | None,
    ) -> Any:  # noqa: ANN401 - JSON
        import httpx

        call = f"{method} {self.shown}{path}"
        content = None if body is None else json.dumps(body).encode()
        headers = self._headers()
        try:
            async with self._open().stream(
                method, f"{self._base}{path}", content=content, params=params, headers=headers
            ) as response:
                text = await _read(response, call)
        except httpx.TimeoutException as error:
            raise BankError(
                f"{call}: no answer within {self._timeout_s:g} s. It may be busy; raise "
                "qdrant.timeout_ms if this repeats."
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise BankError(
                f"{call}: cannot be reached: {error or type(error).__name__}. Start the server, "
                "or set qdrant.url."
            ) from error
        if response.status_code >= 300:
            raise self._refused(call, response, text)
        return _result(text, call)

    def _open(self) -> httpx.AsyncClient:
        import httpx

        if self._client is None:
            limit = self._timeout_s
            self._client = httpx.AsyncClient(
                transport=self._transport,
                timeout=httpx.Timeout(limit, connect=min(CONNECT_S, limit)),
                limits=httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE),
            )
        return self._client

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

    def _count(self, error: QdrantError) -> None:
        if error.status == 429:
            self._breaker.pause(error.retry_after or PAUSE_S, error.detail or "asked too often")
        elif error.status >= 500:
            self._breaker.failure(str(error))
        else:
            # It answered: a refusal is no sign that it is down.
            self._breaker.success()

    def _refused(self, call: str, response: httpx.Response, text: str) -> QdrantError:
        status, detail = response.status_code, _said(text)
        told = f" ({detail})" if detail else ""
        wait = response.headers.get("retry-after", "")
        return QdrantError(
            f"{call} -> {status}{told}. {self._advice(status)}",
            status=status,
            detail=detail,
            retry_after=float(wait) if wait.isdecimal() else None,
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


async def _read(response: httpx.Response, call: str) -> str:
    found = bytearray()
    async for chunk in response.aiter_bytes():
        found += chunk
        if len(found) > MAX_ANSWER_BYTES:
            raise BankError(f"{call}: more than {MAX_ANSWER_BYTES} bytes", retryable=False)
    return found.decode("utf-8", "replace")


def _said(text: str) -> str:
    """The message in ``{"status": {"error": ...}}``."""
    try:
        status = json.loads(text)["status"]["error"]
    except (ValueError, RecursionError, KeyError, TypeError):
        status = "" if "<" in text[:200] else text
    return " ".join(str(status).split())[:SHOWN_CHARACTERS]


def _result(text: str, call: str) -> Any:  # noqa: ANN401 - JSON
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or "result" not in answer:
        raise BankError(f"{call}: this is no answer of a Qdrant server. Check qdrant.url.")
    return answer["result"]
