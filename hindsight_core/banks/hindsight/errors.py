"""What a Hindsight server's refusal means: failed, or merely not there."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from hindsight_core.errors import BankError
from hindsight_core.services import Clock

SHOWN_CHARACTERS = 300
_LATER = frozenset({404, 408, 409, 425, 429})


class ServerError(BankError):
    """The server answered with an error status.

    Attributes:
        status: The HTTP status.
        detail: What it said, short.
    """

    def __init__(
        self, message: str, *, status: int, detail: str, retry_after: float | None = None
    ) -> None:
        super().__init__(
            message, retryable=status in _LATER or status >= 500, retry_after=retry_after
        )
        self.status = status
        self.detail = detail

    @property
    def no_such_thing(self) -> bool:
        """A 404 that speaks of a bank, a document or a fact; a proxy's 404 does not (br/BR-53)."""
        return self.status == 404 and self.detail.endswith("not found")

    @property
    def no_such_bank(self) -> bool:
        """The bank does not exist yet: empty, not broken. Servers before 1.0 never say so."""
        return self.no_such_thing and self.detail.startswith("Bank ")


def refused(
    call: str, status: int, text: str, headers: Mapping[str, str], *, namespace: str, clock: Clock
) -> ServerError:
    """The error for an answer with an error status; names the call and says what to do."""
    detail = said(text)
    wait = retry_after(headers, clock) if status in (429, 503) else None
    told = f" ({detail})" if detail else ""
    return ServerError(
        f"{call} -> {status}{told}. {_advice(status, wait, namespace, detail)}",
        status=status,
        detail=detail,
        retry_after=wait,
    )


def said(text: str) -> str:
    """The message in an error body: ``detail`` is a text, or a list of problems (422)."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return "" if "<" in text[:200] else _short(text)
    detail = value.get("detail") if isinstance(value, dict) else None
    if isinstance(detail, list):
        detail = "; ".join(_problem(item) for item in detail)
    return _short(detail) if isinstance(detail, str) else ""


def retry_after(headers: Mapping[str, str], clock: Clock) -> float | None:
    """Seconds that the server asks to wait, given as seconds or as a date."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - clock()).total_seconds()
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _problem(item: object) -> str:
    if not isinstance(item, dict):
        return str(item)
    where = ".".join(str(part) for part in item.get("loc", ()))
    return f"{where}: {item.get('msg', '')}"


def _short(text: str) -> str:
    return " ".join(text.split())[:SHOWN_CHARACTERS]


def _advice(status: int, wait: float | None, namespace: str, detail: str) -> str:
    if status in (401, 403):
        return "Check hindsight.token, hindsight.token_env or hindsight.token_file."
    if status == 404 and not detail.endswith(" not found"):
        if namespace != "default":
            return f"This server may know no namespace {namespace!r}: set hindsight.namespace."
        return "Check hindsight.base_url, which must not end in /v1."
    if status == 429:
        return f"It asks to wait {wait:.0f} s." if wait else "It is asked too often; wait."
    if 300 <= status < 400:
        return "It redirects: set hindsight.base_url to its real address."
    if status >= 500:
        return "See the server's log; what is queued is tried again."
    return "The request is not accepted as it is; see what the server says."
