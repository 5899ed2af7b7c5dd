"""A live session over an opened configuration, for tests of what a session offers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import ProviderError

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.host import HostCapabilities
    from hindsight_core.runtime import Runtime


class NoHost:
    """A host program that can do nothing."""

    capabilities: frozenset[str] = frozenset()

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Raises `ProviderError`."""
        raise ProviderError(f"{method}: there is no host in this test", retryable=False)


def live_session(
    runtime: Runtime,
    *,
    session_id: str = "session",
    parent_id: str | None = None,
    file: str | None = None,
    tell: Callable[[str, str], None] | None = None,
    capabilities: HostCapabilities | None = None,
) -> LiveSession:
    """An active session of the generic host.

    Args:
        runtime: What it works with.
        session_id: The session.
        parent_id: The session that started it, for a sub-agent.
        file: Where the host keeps the session.
        tell: Takes the level and the text of each notice; the log does when None.
        capabilities: What its host can do; nothing when None.
    """
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.engine.notices import Notices
    from hindsight_core.engine.opening import Opening, SessionInfo
    from hindsight_core.host import HostCapabilities

    home = runtime.loaded.paths.home
    info = SessionInfo(session_id, home, parent_id=parent_id, file=file)
    opening = Opening("active", None, runtime.loaded, info, capabilities or HostCapabilities())
    notices = Notices(tell or (lambda level, text: runtime.logger.info("%s: %s", level, text)))
    return LiveSession(opening, runtime, notices=notices, host="generic", bridge=NoHost())
