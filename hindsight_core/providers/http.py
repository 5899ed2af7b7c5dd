"""One HTTP endpoint of a provider: a shared client, bounded answers, errors that say what to do."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from hindsight_core.errors import ProviderError
from hindsight_core.waits import retry_after

if TYPE_CHECKING:
    import httpx

    from hindsight_core.providers.credentials import StoredKey
    from hindsight_core.services import Clock

MAX_ANSWER_BYTES = 16_000_000
CONNECT_S = 10.0
SHOWN_CHARACTERS = 200
_RETRYABLE = frozenset({408, 409, 425, 429})


class HttpError(ProviderError):
    """The endpoint answered with an error status.

    Attributes:
        status: The HTTP status.
        detail: The start of what it said.
    """

    def __init__(
        self, message: str, *, status: int, detail: str, retry_after: float | None
    ) -> None:
        super().__init__(
            message, retryable=status in _RETRYABLE or status >= 500, retry_after=retry_after
        )
        self.status = status
        self.detail = detail


class Endpoint:
    """Sends JSON and reads JSON; the client is made at the first request and closed by `close`.

    Args:
        name: For messages, such as ``openai``.
        base_url: Without a slash at its end.
        section: The settings section that a person can change, ``models`` or ``embeddings``.
        key_env: The environment variable with the key; None sends none.
        headers: Makes the headers of a request from the key.
        timeout_s: Limit of one request.
        clock: Aware UTC now, to read dates in ``Retry-After``.
        transport: For tests; None for the network.
        stored: Gives the host program's key where no variable is named.
        env: Where the variable is looked up; None is this process's own environment.
    """

    def __init__(
        self,
        *,
        name: str,
        base_url: str,
        section: str,
        key_env: str | None,
        headers: Callable[[str | None], Mapping[str, str]],
        timeout_s: float,
        clock: Clock,
        transport: httpx.AsyncBaseTransport | None = None,
        stored: StoredKey | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.base_url = base_url.rstrip("/")
        self._section = section
        self._key_env = key_env
        self._headers = headers
        self._timeout_s = timeout_s
        self._clock = clock
        self._transport = transport
        self._stored = stored
        self._env = os.environ if env is None else env
        self._client: httpx.AsyncClient | None = None

    async def post(
        self, path: str, payload: Mapping[str, Any], *, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Send a JSON body and read a JSON object.

        Raises:
            HttpError: An error status.
            ProviderError: Unreachable, too slow, or no JSON object.
        """
        body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
        return await self._request("POST", path, body, headers or {})

    async def get(self, path: str) -> dict[str, Any]:
        """Read a JSON object; raises as `post`."""
        return await self._request("GET", path, None, {})

    async def close(self) -> None:
        """Close the client; a later request makes a new one."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _request(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> dict[str, Any]:
        import httpx

        sent = {"content-type": "application/json", **self._headers(await self._key()), **headers}
        url = _joined(self.base_url, path)
        try:
            async with self._open().stream(method, url, content=body, headers=sent) as response:
                text = await self._read(response)
        except httpx.TimeoutException as error:
            raise ProviderError(
                f"{self.name} at {self.shown} did not answer within {self._timeout_s:g} s. Raise "
                f"{self._section}.timeout_ms or choose a faster model."
            ) from error
        except UnicodeEncodeError as error:
            raise ProviderError(
                f"the key in {self._key_env} has characters that no header can carry. Set it "
                "again, without quotes and spaces.",
                retryable=False,
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ProviderError(
                f"{self.name} at {self.shown} cannot be reached: {error or type(error).__name__}. "
                f"Check {self._section}.base_url and that the server runs."
            ) from error
        if response.status_code >= 300:
            raise self._refused(response, text)
        return self._object(text, response.headers.get("content-type", ""))

    @property
    def shown(self) -> str:
        """The URL without credentials and query, for messages."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    def _open(self) -> httpx.AsyncClient:
        import httpx

        if self._client is None:
            connect = min(CONNECT_S, self._timeout_s)
            self._client = httpx.AsyncClient(
                timeout=httpx.Timeout(self._timeout_s, connect=connect), transport=self._transport
            )
        return self._client

    async def _key(self) -> str | None:
        if self._key_env is None:
            return await self._stored() if self._stored is not None else None
        key = self._env.get(self._key_env, "").strip()
        if not key:
            raise ProviderError(
                f"{self._section}.api_key_env names {self._key_env}, which is not set. Export it, "
                "or remove the setting for a server that needs no key.",
                retryable=False,
            )
        return key

    async def _read(self, response: httpx.Response) -> str:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_ANSWER_BYTES:
                raise ProviderError(
                    f"{self.name} at {self.shown} sent more than {MAX_ANSWER_BYTES} bytes"
                )
        return body.decode("utf-8", "replace")

    def _refused(self, response: httpx.Response, text: str) -> HttpError:
        status = response.status_code
        detail = _said(text)
        wait = retry_after(response.headers, self._clock)
        return HttpError(
            f"{self.name} at {self.shown} answered {status}{f' ({detail})' if detail else ''}. "
            f"{self._advice(status, wait, response.headers.get('location'))}",
            status=status,
            detail=text[:2000],
            retry_after=wait,
        )

    def _advice(self, status: int, wait: float | None, location: str | None) -> str:
        if status in (401, 403):
            if self._key_env is None:
                return f"Name the variable that holds the key in {self._section}.api_key_env."
            return f"Check the key in the environment variable {self._key_env}."
        if status == 404:
            return f"Check {self._section}.base_url and the model's name."
        if status == 429:
            return f"It asks to wait {wait:.0f} s." if wait else "It is asked too often; wait."
        if status < 400:
            return f"It sends to {location}; set {self._section}.base_url to the right address."
        return "Try again later." if status >= 500 else f"Check the {self._section} settings."

    def _object(self, text: str, kind: str) -> dict[str, Any]:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return value
        what = "an empty body" if not text.strip() else f"no JSON object ({kind or 'no type'})"
        raise ProviderError(
            f"{self.name} at {self.shown} answered with {what}. Check {self._section}.base_url."
        )


def _joined(base_url: str, path: str) -> str:
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path))


def _said(text: str) -> str:
    """The error message in an error body, short."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "" if "<" in text[:200] else " ".join(text.split())[:SHOWN_CHARACTERS]
    for key in ("error", "message", "detail"):
        if isinstance(value, dict) and key in value:
            value = value[key]
    return (" ".join(value.split()) if isinstance(value, str) else "")[:SHOWN_CHARACTERS]
