"""When each contour last worked and last failed, and whether anything is stored at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from hindsight_core.doctor.findings import Finding
from hindsight_core.state.overview import last_stored

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime

Entry = Mapping[str, Any]
LOOK_BACK = 2_000
SESSIONS_WITHOUT = 3
READ_ON = "`hindsight-mem log` has the details."


def _recalled(entry: Entry) -> bool | None:
    """Whether a recall worked; None for an entry that says nothing about it."""
    outcome = entry.get("outcome")
    if entry.get("type") != "recall" or outcome in (None, "skipped"):
        return None
    return bool(outcome != "failed")


def _memorized(entry: Entry) -> bool | None:
    """Whether a write worked; one that waits for the bank says nothing."""
    if entry.get("type") == "error":
        return False
    if entry.get("type") != "retain" or entry.get("outcome") == "queued":
        return None
    return bool(entry.get("outcome") != "failed")


CONTOURS: Mapping[str, Callable[[Entry], bool | None]] = {
    "recall": _recalled,
    "memorize": _memorized,
}


async def contours(runtime: Runtime) -> list[Finding]:
    """Last success and failure of each, from the activity log of this bank."""
    if not runtime.settings.log.activity:
        advice = "Turn it on with `hindsight-mem config set log.activity true`."
        return [Finding("history", "warning", "the activity log is off: nothing is known", advice)]
    bank = runtime.bank_id
    entries = runtime.log.read(LOOK_BACK, where=lambda entry: _is_of(entry, bank))
    found = [_last(name, worked, entries) for name, worked in CONTOURS.items()]
    # Notes of tools and commands are in no session's entry, but each has its receipt.
    last = await runtime.queue.database.read(partial(last_stored, bank=bank))
    return [*found, *_nothing_stored(runtime, entries, since_when=last)]


def _last(
    name: str, worked: Callable[[Entry], bool | None], entries: list[dict[str, Any]]
) -> Finding:
    """Newest first: the first of each kind is the last that happened."""
    label = f"last {name}"
    well = next((entry for entry in entries if worked(entry) is True), None)
    badly = next((entry for entry in entries if worked(entry) is False), None)
    success = f"worked {_when(well)}" if well else "has not worked yet"
    if badly is None:
        return Finding(label, "ok", success)
    failure = f"failed {_when(badly)}: {badly.get('reason') or 'no reason was given'}"
    if well is not None and str(well.get("ts")) > str(badly.get("ts")):
        return Finding(label, "ok", f"{success}; before that it {failure}")
    return Finding(label, "warning", f"{failure}; {success}", READ_ON)


def _nothing_stored(
    runtime: Runtime, entries: list[dict[str, Any]], *, since_when: datetime | None
) -> list[Finding]:
    """Sessions since the last one that left a fact."""
    since: dict[str, None] = {}
    for entry in entries:
        if entry.get("type") == "retain" and (entry.get("facts") or entry.get("known")):
            break
        if since_when is not None and str(entry.get("ts")) <= since_when.isoformat():
            break
        if isinstance(session := entry.get("session"), str):
            since[session] = None
    if len(since) < SESSIONS_WITHOUT:
        return []
    text = f"nothing was stored in the last {len(since)} sessions"
    return [Finding("stored", "warning", text, _why_nothing(runtime))]


def _why_nothing(runtime: Runtime) -> str:
    settings = runtime.settings
    if runtime.read_only:
        return "bank.read_only is set; `hindsight-mem config set bank.read_only false` lifts it."
    if not settings.memorize.enabled:
        return "memorize.enabled is off; `hindsight-mem config set memorize.enabled true`."
    if not runtime.models.available("retain"):
        return (
            'Without a model only what you say outright is kept, such as "remember that ..." or '
            '"from now on ...". For more set models.base_url and models.model.'
        )
    return (
        "Look at `hindsight-mem log` and at the host's wiring with `hindsight-mem doctor --host "
        "NAME`: a session is memorized when it is compacted or ends."
    )


def _is_of(entry: Entry, bank: str) -> bool:
    if entry.get("bank") is not None:
        return bool(entry["bank"] == bank)
    queries = entry.get("queries")
    banks = [q.get("bank") for q in queries if isinstance(q, dict)] if queries else []
    return not banks or bank in banks


def _when(entry: Entry) -> str:
    return str(entry.get("ts"))[:16].replace("T", " ") + " UTC"
