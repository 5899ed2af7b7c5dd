"""``hindsight-mem bridge --host NAME``: the protocol on stdin and stdout."""

from __future__ import annotations

import asyncio
import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler

import click


class PrivateLog(RotatingFileHandler):
    """A rotating log that only its owner can read: paths and reasons are nobody else's."""

    def _open(self) -> TextIOWrapper:
        os.close(os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT, 0o600))
        os.chmod(self.baseFilename, 0o600)
        return super()._open()


@click.command()
@click.option("--host", default="generic", show_default=True, metavar="NAME", help="Host adapter.")
@click.option("--verbose", is_flag=True, help="Log to stderr as well.")
def bridge(host: str, *, verbose: bool) -> None:
    """Serve one host process: JSON-RPC, one object a line (protocol.md)."""
    from hindsight_core.bridge.server import run
    from hindsight_core.plugins import load_host

    _log(verbose=verbose)
    asyncio.run(run(host=host, host_object=load_host(host), env=os.environ))


def _log(*, verbose: bool) -> None:
    from hindsight_core.config.paths import Paths

    logger = logging.getLogger("hindsight_core")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    if verbose:
        logger.addHandler(logging.StreamHandler())
    folder = Paths.from_env(os.environ).logs
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = PrivateLog(folder / "bridge.log", maxBytes=1_000_000, backupCount=3, delay=True)
        file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
        logger.addHandler(file)
    except OSError:
        # No log is no reason to refuse memory; initialize says what is wrong with the folder.
        logger.addHandler(logging.NullHandler())
