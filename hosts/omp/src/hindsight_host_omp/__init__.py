"""The omp host: its events, its wiring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hindsight_core.host import EngineApi, HostAdapter, InstallPlan, InstallRequest

if TYPE_CHECKING:
    from hindsight_core.transcript.past import PastSession


class OmpHost:
    """Entry point of the host ``omp``."""

    name = "omp"

    def adapter(self, engine: EngineApi) -> HostAdapter:
        """The adapter of one bridge."""
        from hindsight_host_omp.adapter import OmpAdapter

        return OmpAdapter(engine)

    def install(self, request: InstallRequest) -> InstallPlan:
        """The extension's files, where omp finds them."""
        from hindsight_host_omp.install import install

        return install(request)

    def uninstall(self, request: InstallRequest) -> InstallPlan:
        """Take them out again."""
        from hindsight_host_omp.install import uninstall

        return uninstall(request)

    def detected(self, env: Mapping[str, str]) -> str | None:
        """The folder of omp, or its program."""
        from hindsight_host_omp.places import detected

        return detected(env)

    def obstacles(self, request: InstallRequest) -> Sequence[str]:
        """The memory of omp itself, where its settings turn it on."""
        from hindsight_host_omp.install import obstacles

        return obstacles(request)

    def past_sessions(self, env: Mapping[str, str]) -> Iterator[PastSession]:
        """The sessions that omp has kept."""
        from hindsight_core.transcript.readers.pi_folder import sessions_in
        from hindsight_host_omp.places import agent_dir

        return sessions_in(agent_dir(env) / "sessions", host=self.name)


host = OmpHost()
