"""The generic host: any agent that sends canonical requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hindsight_core.host import EngineApi, HostAdapter, InstallPlan, InstallRequest, Limits


class GenericAdapter:
    """Canonical requests need no translation, so an ``event`` is passed on as what it names."""

    name = "generic"
    limits = Limits()

    def __init__(self, engine: EngineApi) -> None:
        self._engine = engine

    async def event(self, name: str, payload: dict[str, Any]) -> Sequence[dict[str, Any]]:
        """A canonical call wrapped in an event; an unknown name does nothing."""
        if name not in self._engine.methods:
            return []
        result = await self._engine.call(name, payload)
        return [{"type": "result", "method": name, "result": result}]

    def answer(self, method: str, result: dict[str, Any]) -> dict[str, Any]:
        """The host's answers are in the protocol's form already."""
        return result


class GenericHost:
    """Entry point of the host ``generic``."""

    name = "generic"

    def adapter(self, engine: EngineApi) -> HostAdapter:
        """The adapter of one bridge."""
        return GenericAdapter(engine)

    def install(self, request: InstallRequest) -> InstallPlan:
        """There is no file to write: the agent starts the bridge itself."""
        command = " ".join(request.command)
        return InstallPlan((), (f"Start the bridge from your agent with: {command}",))

    def uninstall(self, request: InstallRequest) -> InstallPlan:
        """Nothing was written."""
        return InstallPlan(())


host = GenericHost()
