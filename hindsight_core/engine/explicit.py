"""What a person or the agent asks for: tools and slash commands, on with the automatic off."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.budget import work
from hindsight_core.engine.commands.base import CommandResult
from hindsight_core.engine.tools.base import failed

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.engine.opening import Opening

logger = logging.getLogger("hindsight_core.engine")


async def tool(
    live: LiveSession | None,
    params: Mapping[str, Any],
    *,
    why_off: str,
    now: Callable[[], LiveSession | None] | None = None,
) -> dict[str, Any]:
    """The result of ``tool/call``; never raises for a memory failure.

    Args:
        live: The session that asked.
        params: Name and arguments.
        why_off: Why there is no session.
        now: The session when the tool has run: another one gets nothing of it (am/A-SCHED-7).
    """
    name, arguments = params.get("name"), params.get("arguments")
    if live is None:
        return failed(f"Memory is not active here: {why_off}").wire()
    try:
        # The agent asked for it: no budget for automatic work holds it back.
        with work(session_id=live.opening.session.id, explicit=True):
            given = arguments if isinstance(arguments, dict) else {}
            if (why := await live.modes.refuses(str(name))) is not None:
                return failed(why).wire()
            started = live.spans.now()
            with live.modes.quiet():
                result = await live.tools.call(name if isinstance(name, str) else "", given)
        live.spans.asked(str(name), given, result.details, started=started)
        if now is not None and now() is not live:
            return failed(f"The session changed while {name} ran; its result is dropped.").wire()
        live.watch.called(str(name), given, result.details)
        live.study.called(str(name), result.details)
    except Exception as error:
        logger.exception("%s failed", name)
        result = failed(f"Memory failed: {type(error).__name__}: {error}")
    return result.wire()


async def command(
    live: LiveSession | None, opening: Opening | None, params: Mapping[str, Any], *, why_off: str
) -> dict[str, Any]:
    """The result of ``command/run``; never raises for a memory failure."""
    name, arguments = params.get("name"), params.get("arguments")
    if live is None and opening is not None and opening.loaded is not None:
        from hindsight_core.engine.commands.book import run_without_bank

        named = name if isinstance(name, str) else ""
        return run_without_bank(named, opening.loaded.settings, reason=why_off).wire()
    if live is None:
        return CommandResult(f"Memory is not active here: {why_off}", "warning").wire()
    try:
        with work(session_id=live.opening.session.id, explicit=True), live.modes.quiet():
            given = arguments if isinstance(arguments, str) else ""
            result = await live.commands.run(name if isinstance(name, str) else "", given)
    except Exception as error:
        logger.exception("/%s failed", name)
        result = CommandResult(f"Memory failed: {type(error).__name__}: {error}", "error")
    return result.wire()


def listed(live: LiveSession | None, opening: Opening) -> list[dict[str, Any]]:
    """``initialize.commands``: a session without a bank has them too, to say what to do."""
    if opening.capabilities.spawned:
        return []
    if live is not None:
        # A session of tools only has nothing else (pi/U-04).
        return live.commands.describe() if opening.state == "active" else []
    if opening.state != "dormant" or opening.loaded is None:
        return []
    from hindsight_core.engine.commands.book import described, offered_commands

    return [described(command) for command in offered_commands(opening.loaded.settings)]
