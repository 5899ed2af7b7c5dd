"""``hindsight_mental_model``: mental models of a server bank (s1/S-TOOL-2, pi/H-12)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.tools.base import (
    TEXT,
    BadArgument,
    ToolResult,
    failed,
    names,
    schema,
    text,
)
from hindsight_core.recall.escape import escape

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession

ACTIONS = ("list", "get", "create", "update", "refresh", "delete")
_WRITING = frozenset({"create", "update", "refresh", "delete"})


class MentalModelTool:
    """Lists, reads and keeps them; ``delete`` is a dry run unless ``dryRun`` is false."""

    name = "hindsight_mental_model"
    parameters = schema(
        {
            "action": {"type": "string", "enum": list(ACTIONS), "default": "list"},
            "id": TEXT,
            "name": TEXT,
            "sourceQuery": TEXT,
            "tags": {"type": "array", "items": TEXT},
            "dryRun": {"type": "boolean", "default": True},
        }
    )

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """One JSON object; contents are escaped, for they were composed from memory."""
        action = text(arguments, "action") or "list"
        if action not in ACTIONS:
            raise BadArgument(f"`action` must be one of {', '.join(ACTIONS)}.")
        runtime = self._live.runtime
        management = getattr(runtime.bank, "management", None)
        if management is None:
            return failed("This bank keeps no mental models; a Hindsight server does.")
        if action in _WRITING and (why := await self._live.modes.why_no_change()) is not None:
            return failed(f"Nothing was changed: {why}.")
        run: Mapping[str, Callable[[Any, Mapping[str, Any]], Awaitable[object]]] = {
            "list": self._list,
            "get": self._get,
            "create": self._create,
            "update": self._update,
            "refresh": self._refresh,
            "delete": self._delete,
        }
        told = await run[action](management, arguments)
        if told is None:
            return failed(f"There is no mental model {text(arguments, 'id')!r}.")
        safe = escape(json.dumps(told, ensure_ascii=False, indent=2, default=str))
        return ToolResult(safe, details={"outcome": "ok"})

    async def _list(self, management: Any, arguments: Mapping[str, Any]) -> object:  # noqa: ANN401
        return {"models": await management.mental_models()}

    async def _get(self, management: Any, arguments: Mapping[str, Any]) -> object:  # noqa: ANN401
        return await management.mental_model(_id(arguments))

    async def _create(self, management: Any, arguments: Mapping[str, Any]) -> object:  # noqa: ANN401
        fields = self._fields(arguments)
        if "name" not in fields or "source_query" not in fields:
            raise BadArgument("`name` and `sourceQuery` are needed for a new mental model.")
        if given := text(arguments, "id"):
            fields["id"] = given
        return await management.create_mental_model(fields)

    async def _update(self, management: Any, arguments: Mapping[str, Any]) -> object:  # noqa: ANN401
        fields = self._fields(arguments)
        if not fields:
            raise BadArgument("give `name`, `sourceQuery` or `tags` to change.")
        return await management.update_mental_model(_id(arguments), fields)

    async def _refresh(self, management: Any, arguments: Mapping[str, Any]) -> object:  # noqa: ANN401
        return await management.refresh_mental_model(_id(arguments))

    async def _delete(self, management: Any, arguments: Mapping[str, Any]) -> object:  # noqa: ANN401
        found = await management.mental_model(_id(arguments))
        if found is None or arguments.get("dryRun") is not False:
            return None if found is None else {"dryRun": True, "wouldDelete": found}
        return {"deleted": await management.delete_mental_model(_id(arguments))}

    def _fields(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        clean = self._live.runtime.sanitiser
        said = {"name": text(arguments, "name"), "source_query": text(arguments, "sourceQuery")}
        fields: dict[str, Any] = {key: clean.text(value) for key, value in said.items() if value}
        if tags := names(arguments, "tags"):
            fields["tags"] = list(clean.tags(tags))
        return fields


def _id(arguments: Mapping[str, Any]) -> str:
    found = text(arguments, "id")
    if not found:
        raise BadArgument("`id` is needed; the action `list` shows ids.")
    return found
