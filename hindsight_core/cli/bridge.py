"""``hindsight-mem bridge --host NAME``: the protocol on stdin and stdout."""

from __future__ import annotations

import asyncio
import os

import click


@click.command()
@click.option("--host", default="generic", show_default=True, metavar="NAME", help="Host adapter.")
@click.option("--verbose", is_flag=True, help="Log to stderr as well.")
def bridge(host: str, *, verbose: bool) -> None:
    """Serve one host process: JSON-RPC, one object a line (protocol.md)."""
    from hindsight_core.bridge.server import run
    from hindsight_core.plugins import load_host

    log_to("bridge.log", verbose=verbose)
    asyncio.run(run(host=host, host_object=load_host(host), env=os.environ))


def log_to(name: str, *, verbose: bool) -> None:
    """Log to a file of the home, and with ``verbose`` to stderr."""
    from hindsight_core.config.paths import Paths
    from hindsight_core.logs import log_into

    log_into(Paths.from_env(os.environ).logs, name, redact=_redacted, verbose=verbose)


def _redacted(text: str) -> str:
    # The rules are read with the first line that is logged, not with the start.
    from hindsight_core.redact import redacted

    return redacted(text)
