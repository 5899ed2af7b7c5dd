"""The pi host: its events, its wiring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hindsight_core.host import EngineApi, HostAdapter, InstallPlan, InstallRequest

if TYPE_CHECKING:
    from hindsight_core.transcript.past import PastSession


class PiHost:
    """Entry point of the host ``pi``."""

    name = "pi"

    def adapter(self, engine: EngineApi) -> HostAdapter:
        """The adapter of one bridge."""
        from hindsight_host_pi.adapter import PiAdapter

        return PiAdapter(engine)

    def install(self, request: InstallRequest) -> InstallPlan:
        """Shim files, and their place in pi's settings."""
        from hindsight_host_pi.install import install

        return install(request)

    def uninstall(self, request: InstallRequest) -> InstallPlan:
        """Take both out again."""
        from hindsight_host_pi.install import uninstall

        return uninstall(request)

    def past_sessions(self, env: Mapping[str, str]) -> Iterator[PastSession]:
        """The sessions that pi has kept."""
        from hindsight_core.transcript.readers.pi_folder import sessions_in
        from hindsight_host_pi.install import agent_dir

        return sessions_in(agent_dir(env) / "sessions", host=self.name)


host = PiHost()
