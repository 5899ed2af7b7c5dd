"""``hindsight_retain_user``: keep one fact about the person, across projects (pi/G-04)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.tools.base import TEXT, ToolResult, schema
from hindsight_core.engine.tools.retain import KINDS, kept, note
from hindsight_core.recall.scopes import PERSONAL_ROLES

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession


class RetainUserTool:
    """Stores what the agent has learned about the person, in their own bank."""

    name = "hindsight_retain_user"
    parameters = schema(
        {"content": TEXT, "kind": {"type": "string", "enum": list(KINDS), "default": "fact"}},
        "content",
    )

    def __init__(self, live: LiveSession, bank: str) -> None:
        self._live = live
        self._bank = bank

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """As of ``hindsight_retain``; the user block changes with the next epoch (pi/UB-11)."""
        content, kind = note(arguments)
        live = self._live
        report = await live.runtime.memorizer_of(self._bank).retain_note(
            content,
            kind=kind,
            source="user-note",
            session_id=live.opening.session.id,
            host=live.host,
        )
        if report.outcome in ("stored", "queued") and live.person is not None:
            live.person.stale()
        return kept(report, bank=self._bank)


def person_tools(live: LiveSession) -> Iterable[RetainUserTool]:
    """The tool, where there is a bank for it: `bank.user_id`, or a listed one (pi/UB-01)."""
    own = live.runtime.bank_id
    listed = (e.id for e in live.deciding.entries if e.writable and e.role in PERSONAL_ROLES)
    bank = live.runtime.settings.bank.user_id or next((b for b in listed if b != own), None)
    return (RetainUserTool(live, bank),) if bank else ()
