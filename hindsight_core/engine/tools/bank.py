"""``hindsight_bank``: the bank of this session and its missions (s1/S-TOOL-2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.tools.base import (
    TEXT,
    BadArgument,
    ToolResult,
    failed,
    schema,
    text,
)

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession

MISSIONS = ("retain_mission", "reflect_mission", "observations_mission")
NO_SERVER = "This bank is no server's: its missions are the templates and settings of the user."


class BankTool:
    """``get`` shows the bank; ``update`` changes missions, by default as a dry run."""

    name = "hindsight_bank"
    parameters = schema(
        {
            "action": {"type": "string", "enum": ["get", "update"], "default": "get"},
            **{name: TEXT for name in MISSIONS},
            "dryRun": {"type": "boolean", "default": True},
        }
    )

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """One JSON object."""
        if (text(arguments, "action") or "get") == "get":
            return await self._get()
        wanted = {name: said for name in MISSIONS if (said := text(arguments, name))}
        if not wanted:
            raise BadArgument(f"give at least one of {', '.join(MISSIONS)}.")
        return await self._update(wanted, dry=arguments.get("dryRun") is not False)

    async def _get(self) -> ToolResult:
        runtime = self._live.runtime
        bank = runtime.bank
        stats = await bank.stats()
        management = getattr(bank, "management", None)
        told = {
            "id": bank.id,
            "backend": bank.backend,
            "documents": stats.documents,
            "facts": stats.facts,
            "missions": await management.missions() if management else NO_SERVER,
        }
        return ToolResult(_json(told), details={"outcome": "ok"})

    async def _update(self, wanted: Mapping[str, str], *, dry: bool) -> ToolResult:
        runtime = self._live.runtime
        management = getattr(runtime.bank, "management", None)
        if management is None:
            return failed(NO_SERVER)
        before = await management.missions()
        clean = {name: runtime.sanitiser.text(said) for name, said in wanted.items()}
        if dry:
            told = {"dryRun": True, "before": before, "after": {**before, **clean}}
            return ToolResult(_json(told), details={"outcome": "dry-run"})
        if (why := await self._live.modes.why_no_change()) is not None:
            return failed(f"Nothing was changed: {why}.")
        await management.set_missions(clean)
        return ToolResult(_json({"changed": sorted(clean)}), details={"outcome": "ok"})


def _json(told: Mapping[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, indent=2, default=str)
