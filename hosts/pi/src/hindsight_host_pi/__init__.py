"""The pi host: its events, its wiring."""

from __future__ import annotations

from hindsight_core.host import EngineApi, HostAdapter, InstallPlan, InstallRequest


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


host = PiHost()
