"""Answers one hook in its own process, where no daemon can be reached."""

from __future__ import annotations

import asyncio
import gc
import os
import threading

# Above every bound of the engine, below what agents grant a prompt's hook.
_LIMIT_S = 29.5


def answer_here(host: str, event: str, body: bytes, *, cwd: str) -> bytes:
    """What the hook prints; the process ends when it takes too long."""
    # A process this short has nothing to collect; while it imports, collecting is a tenth of it.
    gc.disable()
    # Nor does it want every distribution on the machine read for plugins of pydantic.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    watch = threading.Timer(_LIMIT_S, os._exit, (0,))
    watch.daemon = True
    watch.start()
    return asyncio.run(_answer(host, event, body, cwd))


async def _answer(host: str, event: str, body: bytes, cwd: str) -> bytes:
    from hindsight_core.config.paths import Paths
    from hindsight_core.daemon.session import HookedSession, payload_of
    from hindsight_core.host_hooks import HookHost
    from hindsight_core.plugins import load_host
    from hindsight_core.state.hook_sessions import HookSessions

    env = dict(os.environ)
    host_object = load_host(host)
    payload = payload_of(body)
    if not isinstance(host_object, HookHost) or not payload:
        return b"{}"
    payload.setdefault("cwd", cwd)
    where = host_object.session_of(event, payload)
    if where is None:
        return b"{}"
    memos = HookSessions(Paths.from_env(env).state)
    session = HookedSession(
        host=host,
        host_object=host_object,
        session=where,
        env=env,
        memos=memos,
        resident=False,
    )
    answer = await session.answer(event, payload)
    await session.close()
    memos.close()
    return answer
