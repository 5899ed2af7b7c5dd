"""The opencode host: its events, its wiring."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from hindsight_core.host import EngineApi, HostAdapter, InstallPlan, InstallRequest

if TYPE_CHECKING:
    from hindsight_core.transcript.past import PastSession


class OpencodeHost:
    """Entry point of the host ``opencode``."""

    name = "opencode"

    def adapter(self, engine: EngineApi) -> HostAdapter:
        """The adapter of a bridge with one session."""
        return self.adapter_of_many(lambda: engine)

    def adapter_of_many(self, engines: Callable[[], EngineApi]) -> HostAdapter:
        """The adapter of one bridge: an opencode process runs many sessions."""
        from hindsight_host_opencode.adapter import OpencodeAdapter

        return OpencodeAdapter(engines)

    def install(self, request: InstallRequest) -> InstallPlan:
        """Shim files, and their places in opencode's configuration."""
        from hindsight_host_opencode.install import install

        return install(request)

    def uninstall(self, request: InstallRequest) -> InstallPlan:
        """Take both out again."""
        from hindsight_host_opencode.install import uninstall

        return uninstall(request)

    def past_sessions(self, env: Mapping[str, str]) -> Iterator[PastSession]:
        """The sessions that opencode has kept."""
        from hindsight_host_opencode.options import options_in
        from hindsight_host_opencode.past import data_dir, past_sessions
        from hindsight_host_opencode.places import user_config

        return past_sessions(data_dir(env), options=options_in(user_config(env)))


host = OpencodeHost()
