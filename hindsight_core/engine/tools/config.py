"""``hindsight_config``: look at settings, and try a change without making it (s1/S-CFG-9)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.config import schema as keys
from hindsight_core.config.change import checked, resolve
from hindsight_core.config.show import rows, shown
from hindsight_core.engine.tools.base import TEXT, BadArgument, ToolResult, schema, text
from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession


class ConfigTool:
    """The agent proposes, the user changes: nothing is ever written from here."""

    name = "hindsight_config"
    parameters = schema(
        {
            "action": {"type": "string", "enum": ["get", "patch"], "default": "get"},
            "key": TEXT,
            "value": TEXT,
        }
    )

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """``get`` shows a setting or a section; ``patch`` says whether a value would do."""
        key = text(arguments, "key")
        if (text(arguments, "action") or "get") == "get":
            return self._get(key)
        value = arguments.get("value")
        if not key or value is None:
            raise BadArgument("`key` and `value` are needed for a dry run of a change.")
        return self._patch(key, str(value))

    def _get(self, key: str | None) -> ToolResult:
        found = {
            name: row
            for name, row in rows(self._live.runtime.loaded).items()
            if key is None or name == key or name.startswith(f"{key}.")
        }
        if not found and key is not None:
            resolve(key)
        text_ = json.dumps(found, ensure_ascii=False, indent=2, default=str)
        return ToolResult(text_, details={"outcome": "ok"})

    def _patch(self, key: str, value: str) -> ToolResult:
        settings = self._live.runtime.settings
        if keys.is_secret(resolve(key)):
            raise ConfigError(
                f"{key} is a secret: name an environment variable with the key that ends in _env"
            )
        name, parsed = checked(key, value, project=False, settings=settings)
        told = {
            "dryRun": True,
            "key": name,
            "value": shown(name, parsed),
            "now": rows(self._live.runtime.loaded).get(name, {}).get("value"),
            "do": f"nothing was changed; the user can: hindsight-mem config set {name} {value!r}",
        }
        text_ = json.dumps(told, ensure_ascii=False, indent=2, default=str)
        return ToolResult(text_, details={"outcome": "dry-run"})
