"""What a person manages on the server: missions and mental models (s1/S-TOOL-2, pi/H-12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hindsight_core.banks.hindsight.errors import ServerError

if TYPE_CHECKING:
    from hindsight_core.banks.hindsight.api import Api

MISSIONS = ("retain_mission", "reflect_mission", "observations_mission")
_MODEL_FIELDS = ("id", "name", "source_query", "content", "tags")


@dataclass(frozen=True, slots=True)
class Management:
    """Missions and mental models of one bank.

    Attributes:
        api: The bank's calls.

    Raises:
        BankError: From any method: the server refused or did not answer.
    """

    api: Api

    async def missions(self) -> dict[str, str]:
        """The missions that the bank has set itself."""
        config = await self.api.config()
        found = config.get("overrides")
        overrides = found if isinstance(found, dict) else {}
        return {name: str(overrides[name]) for name in MISSIONS if overrides.get(name)}

    async def set_missions(self, updates: Mapping[str, str]) -> None:
        """Change missions of the bank; those that are not named stay."""
        await self.api.patch_config(dict(updates))

    async def mental_models(self) -> list[dict[str, Any]]:
        """All of them by name, with their contents."""
        models = [_model(item) for item in await self.api.mental_models()]
        return sorted(models, key=lambda model: str(model.get("name") or ""))

    async def mental_model(self, model_id: str) -> dict[str, Any] | None:
        """One; None when there is none of this id."""
        try:
            return _model(await self.api.mental_model(model_id))
        except ServerError as error:
            if error.no_such_thing:
                return None
            raise

    async def create_mental_model(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Begin one; the server writes its content in the background."""
        return await self.api.write("POST", "/mental-models", dict(fields))

    async def update_mental_model(self, model_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Change its name, source query or tags."""
        return await self.api.write("PATCH", _path(model_id), dict(fields))

    async def refresh_mental_model(self, model_id: str) -> dict[str, Any]:
        """Let the server write its content anew."""
        return await self.api.write("POST", f"{_path(model_id)}/refresh", {})

    async def delete_mental_model(self, model_id: str) -> bool:
        """Delete it; False when it was not there."""
        try:
            await self.api.write("DELETE", _path(model_id), None)
        except ServerError as error:
            if error.no_such_thing:
                return False
            raise
        return True


def _path(model_id: str) -> str:
    return f"/mental-models/{quote(model_id, safe='')}"


def _model(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: told[name] for name in _MODEL_FIELDS if told.get(name) not in (None, "", [])}
