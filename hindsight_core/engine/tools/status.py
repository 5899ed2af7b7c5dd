"""``hindsight_status``: where memory stands, read-only (s1/S-TOOL-1)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core import __version__
from hindsight_core.engine.outgoing import Outgoing
from hindsight_core.engine.tools.base import ToolResult, schema
from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession

WANTED = (0, 8, 0)


class StatusTool:
    """Versions, bank, identity, queue and what to do; never a secret, never what was recalled."""

    name = "hindsight_status"
    parameters = schema({})

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """One JSON object."""
        live, runtime = self._live, self._live.runtime
        counts = await Outgoing(runtime).counts()
        choice, settings = runtime.loaded.bank, runtime.settings
        told: dict[str, Any] = {
            "version": __version__,
            "session": {"id": live.opening.session.id, "mode": live.modes.choices.mode},
            "bank": {
                "id": runtime.bank_id,
                "backend": choice.backend,
                "why": choice.reason,
                "readOnly": runtime.read_only,
                **await self._health(),
            },
            "project": {"name": runtime.loaded.project.name, "tags": list(self._tags())},
            "queue": {
                "pending": counts.pending,
                "dead": counts.dead,
                "unreadable": counts.set_aside,
                "lastError": counts.last_error,
                "do": _advice(counts.pending, counts.dead),
            },
            "config": {
                "profile": settings.profile,
                "recall": settings.recall.mode,
                "memorize": list(settings.memorize.mode),
                "token": "set" if self._has_token() else "unset",
                "warnings": list(runtime.loaded.warnings),
            },
        }
        text = json.dumps(told, ensure_ascii=False, indent=2, default=str)
        return ToolResult(runtime.sanitiser.redact(text), details={"outcome": "ok"})

    async def _health(self) -> dict[str, Any]:
        bank = self._live.runtime.bank
        try:
            stats = await bank.stats()
            found: dict[str, Any] = {
                "health": "ok",
                "documents": stats.documents,
                "facts": stats.facts,
            }
            if (api := getattr(bank, "api", None)) is not None:
                version = await api.version()
                found["server"] = str(version)
                if not version.has(WANTED):
                    found["do"] = "upgrade the server: 0.8 or later is wanted"
        except HindsightError as error:
            return {"health": "failed", "error": str(error), "do": "see `hindsight-mem doctor`"}
        return found

    def _tags(self) -> tuple[str, ...]:
        from hindsight_core.memorize.labels import Labels

        session = self._live.opening.session.id
        labels = Labels.of(self._live.runtime.loaded)
        return labels.base_tags(session_id=session, host=self._live.host)

    def _has_token(self) -> bool:
        hindsight = self._live.runtime.settings.hindsight
        return any((hindsight.token, hindsight.token_env, hindsight.token_file))


def _advice(pending: int, dead: int) -> str:
    if dead:
        return "the user can look with `hindsight-mem queue list --dead`, then `queue retry`"
    return "nothing: they are sent when the bank answers" if pending else "nothing"
