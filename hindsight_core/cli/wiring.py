"""Checks a host's wiring for ``doctor``: is it written, and does what it starts really work?"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
import uuid
from typing import TYPE_CHECKING

from hindsight_core.cli.install import host_named, request_for
from hindsight_core.cli.probing import Bridge, Mcp
from hindsight_core.doctor import Finding
from hindsight_core.errors import ConfigError, HindsightError, PluginError
from hindsight_core.host import CheckedHost
from hindsight_core.host_hooks import HookHost

if TYPE_CHECKING:
    from hindsight_core.cli.app import App
    from hindsight_core.host import Host, InstallRequest

HOOK_S = 20.0
ALL_WAITING = 100_000


def wired_hosts(app: App) -> list[str]:
    """Hosts that something of ours is wired into."""
    from hindsight_core.plugins import installed_hosts

    found = []
    for name in installed_hosts():
        try:
            plan = host_named(name).uninstall(request_for(app, name))
        except (ConfigError, PluginError):
            # A file that cannot be read may hold us: its own check says so.
            found.append(name)
            continue
        if plan.changes:
            found.append(name)
    return found


def wiring(app: App, host: str) -> list[Finding]:
    """Findings about one host.

    Raises:
        ConfigError: No such host is installed.
    """
    target, request = host_named(host), request_for(app, host)
    found = [_written(host, request), *_obstacles(target, request)]
    if isinstance(target, HookHost):
        if found[0].level == "ok" and host != "mcp":
            found.append(_hook(host, request))
        found.append(_tools(app, host, request))
    else:
        found.append(_bridge(app, host, request))
    return found


def _written(host: str, request: InstallRequest) -> Finding:
    name = f"{host} wiring"
    try:
        plan = host_named(host).install(request)
    except ConfigError as error:
        return Finding(name, "failed", str(error))
    missing = [str(change.path) for change in plan.changes]
    if missing:
        text = f"not installed, or changed since: {', '.join(missing)}"
        return Finding(name, "failed", text, f"Run `hindsight-mem install {host}`.")
    return Finding(name, "ok", "installed")


def _obstacles(target: Host, request: InstallRequest) -> list[Finding]:
    if not isinstance(target, CheckedHost):
        return []
    try:
        told = target.obstacles(request)
    except ConfigError:
        # The wiring's own finding names the file.
        return []
    return [Finding(f"{target.name} settings", "warning", text) for text in told]


def _hook(host: str, request: InstallRequest) -> Finding:
    """Start the hook as the agent does; the second time, when a daemon may be there, counts."""
    name = f"{host} hook"
    command = [*request.hook_program, "hook", host, "doctor"]
    try:
        _run_hook(command, request)
        begun = time.monotonic()
        reply = _run_hook(command, request)
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        text = f"no proper answer ({error})"
        return Finding(name, "failed", text, f"Run it by hand: {shlex.join(command)}")
    took = (time.monotonic() - begun) * 1000
    return Finding(name, "ok", f"answers {json.dumps(reply)} in {took:.0f} ms")


def _run_hook(command: list[str], request: InstallRequest) -> object:
    done = subprocess.run(  # noqa: S603 (our own command)
        command, input=b"{}", capture_output=True, timeout=HOOK_S, env=_env(request), check=False
    )
    if done.returncode or done.stderr:
        said = done.stderr.decode(errors="replace").strip()
        raise ValueError(said or f"exit {done.returncode}")
    answer: object = json.loads(done.stdout)
    return answer


def _tools(app: App, host: str, request: InstallRequest) -> Finding:
    from hindsight_core.cli.mcp import EXTRA, require_sdk

    try:
        require_sdk()
    except ConfigError as error:
        # A choice: hooks recall and memorize without it.
        advice = f"{EXTRA}; until then the agent has no tools, and everything else works."
        return Finding(f"{host} tools", "warning", str(error), advice)
    command = [*request.program, "mcp", "--host", host]
    return _through(app, f"{host} tools", Mcp(command, env=_env(request)))


def _bridge(app: App, host: str, request: InstallRequest) -> Finding:
    return _through(app, f"{host} bridge", Bridge(request.command, env=_env(request)))


def _env(request: InstallRequest) -> dict[str, str]:
    return {**os.environ, **request.bridge_env}


def _through(app: App, name: str, process: Bridge | Mcp) -> Finding:
    """A write through what the host starts, read back the same way, and deleted."""
    try:
        with process:
            inactive = process.open()
            if inactive is not None:
                # Off because somebody wanted it so, or because it cannot be on?
                wanted = app.loaded.off or not app.loaded.bank.declared
                return Finding(name, "warning" if wanted else "failed", inactive)
            if app.settings.bank.read_only:
                return Finding(name, "ok", "active, read-only: nothing was written")
            return _write_and_read(app, name, process)
    except HindsightError as error:
        advice = "`hindsight-mem doctor` without --host checks model, bank and files."
        return Finding(name, "failed", str(error), advice)


def _write_and_read(app: App, name: str, process: Bridge | Mcp) -> Finding:
    word = f"doctor{uuid.uuid4().hex[:12]}"
    said, failed, details = process.call(
        "hindsight_retain", {"content": f"The check {word} wrote this and deletes it."}
    )
    document = details.get("document")
    try:
        if failed or details.get("outcome") == "queued":
            advice = "See `hindsight-mem queue list`; `hindsight-mem doctor` checks the bank."
            return Finding(name, "failed", f"nothing was stored: {said}", advice)
        found, failed, _ = process.call("hindsight_recall", {"query": word})
    finally:
        if isinstance(document, str):
            app.run(_delete(app, document))
    if failed or word not in found:
        return Finding(name, "failed", f"a write was not found again: {found[:200]}")
    return Finding(name, "ok", "written, read back, deleted")


async def _delete(app: App, document: str) -> None:
    """Out of the bank, and out of the queue where it waits for a bank that is away."""
    async with app.runtime() as runtime:
        queue = runtime.queue
        rows = await queue.rows(bank=runtime.bank_id, limit=ALL_WAITING)
        waiting = [row.id for row in rows if row.document_id == document]
        if waiting:
            await queue.purge(ids=waiting, pending=True)
        else:
            await runtime.bank.delete_document(document)
