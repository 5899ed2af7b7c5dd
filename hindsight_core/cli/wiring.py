"""Checks a host's wiring for ``doctor --host``: is it written, and does what it starts answer?"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_core.cli.install import host_named, request_for
from hindsight_core.doctor import Finding
from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    from hindsight_core.cli.app import App
    from hindsight_core.host import InstallRequest

TIMEOUT_S = 20


def wiring(app: App, host: str) -> list[Finding]:
    """Findings about one host.

    Raises:
        ConfigError: No such host is installed.
    """
    target, request = host_named(host), request_for(app, host)
    again = f"Run `hindsight-mem install {host}`."
    try:
        plan = target.install(request)
    except ConfigError as error:
        return [Finding(f"{host} wiring", "failed", str(error))]
    missing = [str(change.path) for change in plan.changes]
    if missing:
        text = f"not installed, or changed since: {', '.join(missing)}"
        return [Finding(f"{host} wiring", "failed", text, again), _answers(host, request)]
    return [Finding(f"{host} wiring", "ok", "installed"), _answers(host, request)]


def _answers(host: str, request: InstallRequest) -> Finding:
    """Start the bridge as the host would, and ask what memory does in this folder."""
    name = f"{host} bridge"
    opening = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocol": 1, "cwd": str(Path.cwd()), "session": {"id": "doctor"}},
    }
    try:
        done = subprocess.run(  # noqa: S603 (our own command)
            request.command,
            input=json.dumps(opening) + "\n",
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env={**os.environ, **request.bridge_env},
            check=False,
        )
        result = json.loads(done.stdout.splitlines()[0])["result"]
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError, KeyError) as error:
        command = " ".join(request.command)
        return Finding(name, "failed", f"no answer ({error})", f"Run it by hand: {command}")
    state, reason = result["state"], result.get("reason", "")
    if state == "active":
        return Finding(name, "ok", f"active: {reason}")
    return Finding(name, "warning", f"memory is {state} here: {reason}")
