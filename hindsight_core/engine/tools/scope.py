"""``hindsight_scope``: which banks and which part of them this session sees (s1/S-TAG)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.tools.base import ToolResult, schema

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.memory import TagFilter


class ScopeTool:
    """Banks with role, access and tag condition, and the tags of what is written."""

    name = "hindsight_scope"
    parameters = schema({})

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """One JSON object."""
        from hindsight_core.assembly import recall_scopes
        from hindsight_core.memorize.labels import Labels

        live, runtime = self._live, self._live.runtime
        labels, scopes = Labels.of(runtime.loaded), recall_scopes(runtime)
        await live.modes.refresh()
        banks = [
            {
                "id": entry.id,
                "role": entry.role,
                "access": entry.access,
                "retain": entry.writes,
                "sees": group(scopes[entry.id].tags) if entry.id in scopes else None,
            }
            for entry in live.deciding.entries
        ]
        written = labels.base_tags(
            session_id=live.opening.session.id,
            host=live.host,
            of_session=live.modes.choices.tags,
        )
        told = {
            "mode": runtime.settings.scope.mode,
            "project": {"id": labels.project_id, "repo": labels.repo_key},
            "banks": banks,
            "writes": list(written),
        }
        text = json.dumps(told, ensure_ascii=False, indent=2)
        return ToolResult(text, details={"outcome": "ok"})


def group(wanted: TagFilter | None) -> object:
    """A tag condition in the server's form; None for all."""
    if wanted is None:
        return None
    for name, parts in (("and", wanted.all_of), ("or", wanted.any_of), ("not", wanted.none_of)):
        if parts:
            return {name: [group(part) for part in parts]}
    return {"tags": list(wanted.tags), "match": wanted.match}
