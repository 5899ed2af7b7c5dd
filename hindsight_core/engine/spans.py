"""Telemetry spans: on the host's bus, in the activity log and to plugins (s1/S-TEL).

A span has ids, counts, times and reasons, never a text of a fact or of the conversation.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.span_fields import asked, retained
from hindsight_core.recall.block_cache import ORIGIN
from hindsight_core.recall.spans import injection_fields, retrieval_fields, retrieval_ids

if TYPE_CHECKING:
    from hindsight_core.decision.routes import Decided
    from hindsight_core.memorize.report import MemorizeReport
    from hindsight_core.runtime import Runtime
    from hindsight_core.turns import RecallOutcome, Turn

logger = logging.getLogger("hindsight_core.engine")
NAME, VERSION = "hindsight:retrieval", 1
_NOBODY = ("disabled", "no-candidates")


class Spans:
    """Where spans go; nobody who listens can affect a turn (s1/S-TEL-3).

    Args:
        runtime: Its clock, its log and its plugins.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._notify: Callable[[str, dict[str, Any]], None] | None = None
        self._told: set[asyncio.Task[None]] = set()

    def listen(self, notify: Callable[[str, dict[str, Any]], None]) -> None:
        """Send spans to the host as well."""
        self._notify = notify

    def now(self) -> datetime:
        """When a span begins."""
        return self._runtime.clock()

    def emit(self, phase: str, *, started: datetime, **fields: Any) -> None:  # noqa: ANN401
        """One span; fields that are None are left out.

        Args:
            phase: ``retrieval``, ``injection``, ``decision`` or ``retain``.
            started: When it began.
            fields: The others, by their names on the wire.
        """
        ended = self.now()
        attributes: dict[str, Any] = {
            "version": VERSION,
            "phase": phase,
            "mode": "automatic",
            "startedAt": started.isoformat(),
            "endedAt": ended.isoformat(),
            "durationMs": round((ended - started).total_seconds() * 1000),
            **{name: value for name, value in fields.items() if value is not None},
        }
        if self._notify is not None:
            self._notify("telemetry", {"name": NAME, "attributes": attributes})
        event = asyncio.create_task(self._runtime.hooks.event(phase, **attributes))
        self._told.add(event)
        event.add_done_callback(self._forget)

    def decision(self, decided: Decided, *, started: datetime, turn: str | None) -> None:
        """What the decision layer came to (s1/S-TEL-2)."""
        self.emit(
            "decision",
            started=started,
            contextId=turn,
            status=_status(decided),
            cache=_cache(decided),
            **_decision_fields(decided),
        )
        # What was searched and shown is the log's own `recall` entry already.
        self._runtime.log.write("decision", turn=turn, **_logged(decided))

    def recall(self, turn: Turn, outcome: RecallOutcome, *, started: datetime) -> None:
        """A turn's searches, one span each, and what went before the model (s1/S-TEL-1).

        It never raises: what was recalled goes to the model whoever listens.
        """
        try:
            self._recall(turn, outcome, started=started)
        except Exception:
            logger.exception("a recall could not be told")

    def _recall(self, turn: Turn, outcome: RecallOutcome, *, started: datetime) -> None:
        scopes = self._runtime.recall_scopes if outcome.searched else {}
        origin = outcome.details.get(ORIGIN)
        ids = retrieval_ids(origin or turn.id, outcome)
        if origin is None:
            clean = self._runtime.sanitiser.redact
            for retrieval, item in zip(ids, outcome.searched, strict=True):
                scope = scopes.get(item.bank or "")
                fields = retrieval_fields(item, outcome, scope, clean=clean)
                self.emit(
                    "retrieval",
                    started=started,
                    retrievalId=retrieval,
                    contextId=turn.id,
                    **fields,
                )
        fields = injection_fields(outcome, origin=origin)
        self.emit("injection", started=started, contextId=turn.id, retrievalIds=ids, **fields)

    def asked(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        details: Mapping[str, Any],
        *,
        started: datetime,
    ) -> None:
        """What the agent asked of memory by a tool; it never raises."""
        try:
            runtime = self._runtime
            clean = runtime.sanitiser.redact
            found = asked(tool, arguments, details, bank=runtime.bank_id, clean=clean)
            if found is not None:
                self.emit(found[0], started=started, **found[1])
        except Exception:
            logger.exception("a call of %s could not be told", tool)

    def retained(self, bank: str, report: MemorizeReport, *, started: datetime) -> None:
        """A part of the session that went to a bank, waits for it, or did not."""
        self.emit("retain", started=started, **retained(bank, report))

    def skipped_write(self, decided: Decided, *, started: datetime) -> None:
        """A part of the session that goes to no bank (s1/S-DEC-8)."""
        fields = {**_decision_fields(decided), "reason": "decision-no-banks"}
        self.emit("retain", started=started, status="skipped", cache=_cache(decided), **fields)

    def _forget(self, event: asyncio.Task[None]) -> None:
        self._told.discard(event)
        if not event.cancelled():
            event.exception()


def _decision_fields(decided: Decided) -> Mapping[str, Any]:
    return {
        "kind": decided.phase,
        "reason": decided.skip or decided.reason,
        "decisionReason": decided.reason,
        "bankIds": list(decided.banks),
        "droppedBanks": list(decided.dropped) or None,
        "backend": decided.backend,
        "attempt": decided.attempt or None,
        "ladder": [f"{failed.backend}: {failed.failure}" for failed in decided.failed] or None,
    }


def _logged(decided: Decided) -> Mapping[str, Any]:
    failed = "; ".join(f"{one.backend}: {one.reason}" for one in decided.failed)
    return {
        "kind": decided.phase,
        "outcome": _status(decided),
        "reason": decided.skip or decided.reason,
        "backend": decided.backend,
        "attempt": decided.attempt,
        "cached": decided.cached,
        "bank_ids": decided.banks,
        "dropped_ids": decided.dropped,
        "error": failed or None,
    }


def _status(decided: Decided) -> str:
    if decided.reason in _NOBODY:
        return "skipped"
    if decided.fallback:
        return "error"
    return "skipped" if decided.skip else "success"


def _cache(decided: Decided) -> str:
    if not decided.offered:
        return "none"
    return "hit" if decided.cached else "miss"
