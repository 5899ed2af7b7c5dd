"""After a session: what could not be stored or memorized in it, within bounds."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Mapping
from typing import Any

from hindsight_core.daemon.outlet import NoOutlet
from hindsight_core.engine.core import MemoryEngine
from hindsight_core.engine.work import Work
from hindsight_core.services import Clock

# Work after the session of a bank ends ten minutes after the last one (protocol.md).
AFTER_LAST_S = 600.0
_AGAIN_S = 30.0
logger = logging.getLogger("hindsight_core.daemon")


async def drain(
    params: Mapping[str, Any], *, host: str, env: Mapping[str, str], clock: Clock
) -> int:
    """Take up what sessions of one bank left behind, until nothing is or the time is over.

    Args:
        params: Those of the session's ``initialize``: they say which bank and configuration.
        host: The agent's name.
        env: The session's environment.
        clock: Aware UTC now.

    Returns:
        How many writes and windows are left, all of them durable.
    """
    engine = MemoryEngine(host=host, env=env, outlet=NoOutlet(), clock=clock)
    name = f"drain-{secrets.token_hex(4)}"
    await engine.initialize({**params, "session": {"id": name}})
    _, live = engine.session
    try:
        if live is None or live.opening.state != "active" or live.runtime.read_only:
            return 0
        return await _until_done(live.work, recover=live.memorizes)
    finally:
        await engine.close()


async def _until_done(work: Work, *, recover: bool) -> int:
    loop = asyncio.get_running_loop()
    end = loop.time() + AFTER_LAST_S
    while True:
        left = await work.caught_up(timeout_s=max(0.0, end - loop.time()), recover=recover)
        if not left or loop.time() + _AGAIN_S > end:
            return left
        await asyncio.sleep(_AGAIN_S)
