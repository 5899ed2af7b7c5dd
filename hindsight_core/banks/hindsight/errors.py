"""What a Hindsight server's refusal means: failed, or merely not there."""

from __future__ import annotations

import json
from typing import Any

from hindsight_core.banks.http import Answer, StatusError, short
from hindsight_core.services import Clock
from hindsight_core.waits import retry_after


class ServerError(StatusError):
    """A Hindsight server answered with an error status."""

    # A proxy before a server that is just starting answers 404.
    later = StatusError.later | {404}

    @property
    def no_such_thing(self) -> bool:
        """A 404 that speaks of a bank, a document or a fact; a proxy's 404 does not (br/BR-53)."""
        return self.status == 404 and self.detail.endswith("not found")

    @property
    def no_such_bank(self) -> bool:
        """The bank does not exist yet: empty, not broken. Servers before 1.0 never say so."""
        return self.no_such_thing and self.detail.startswith("Bank ")


def refused(answer: Answer, *, namespace: str, clock: Clock) -> ServerError:
    """The error for an answer with an error status; names the call and says what to do."""
    status, detail = answer.status, said(answer.text)
    wait = retry_after(answer.headers, clock) if status in (429, 503) else None
    told = f" ({detail})" if detail else ""
    return ServerError(
        f"{answer.call} -> {status}{told}. {_advice(status, wait, namespace, detail)}",
        status=status,
        detail=detail,
        retry_after=wait,
    )


def said(text: str) -> str:
    """The message in an error body: ``detail`` is a text, or a list of problems (422)."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return "" if "<" in text[:200] else short(text)
    detail = value.get("detail") if isinstance(value, dict) else None
    if isinstance(detail, list):
        detail = "; ".join(_problem(item) for item in detail)
    return short(detail) if isinstance(detail, str) else ""


def _problem(item: object) -> str:
    if not isinstance(item, dict):
        return str(item)
    where = ".".join(str(part) for part in item.get("loc", ()))
    return f"{where}: {item.get('msg', '')}"


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
