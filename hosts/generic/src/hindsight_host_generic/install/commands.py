"""What an agent is told to start: commands that can neither fail nor speak out of turn."""

from __future__ import annotations

import re
import shlex
from typing import Any

from hindsight_core.host import InstallRequest

# Any form in which we, or an earlier version of us, may stand in a configuration.
_OURS = re.compile(r"hindsight[_-](?:core|mem)\b")


def hook_command(request: InstallRequest, host: str, event: str) -> str:
    """The shell command of one hook event.

    It ends well whatever happens, also when the package is gone: a hook must never veto.
    """
    words = [*request.hook_program, "hook", host, event]
    env = [f"{name}={shlex.quote(value)}" for name, value in request.bridge_env.items()]
    return " ".join([*env, shlex.join(words), "2>/dev/null || true"])


def is_hook(command: object, host: str) -> bool:
    """Whether a command is our hook of that host."""
    return (
        isinstance(command, str)
        and _OURS.search(command) is not None
        and re.search(rf"\bhook {re.escape(host)} ", command) is not None
    )


def server_entry(request: InstallRequest, host: str) -> dict[str, Any]:
    """How the MCP server is started: ``command``, ``args``, and ``env`` where it needs one."""
    first, *rest = request.program
    entry: dict[str, Any] = {"command": first, "args": [*rest, "mcp", "--host", host]}
    if request.bridge_env:
        entry["env"] = dict(request.bridge_env)
    return entry


def is_server(entry: object) -> bool:
    """Whether an MCP server is ours."""
    if not isinstance(entry, dict):
        return False
    args = entry.get("args")
    words = [entry.get("command"), *(args if isinstance(args, list) else ())]
    texts = [word for word in words if isinstance(word, str)]
    return "mcp" in texts and any(_OURS.search(text) for text in texts)
