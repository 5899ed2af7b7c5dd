"""``hindsight-mem hook``: its help; the command itself runs before anything here is imported."""

from __future__ import annotations

import sys

import click


@click.command()
@click.argument("host", metavar="HOST")
@click.argument("event", metavar="EVENT")
def hook(host: str, event: str) -> None:
    """Answer one event of an agent: its JSON on stdin, its reply on stdout, exit 0 always.

    `install` wires this; EVENT is the agent's own name for it. A daemon answers where one runs,
    and is started where none does (HINDSIGHT_MEM_DAEMON=off: never).
    """
    from hindsight_core.daemon.client import main

    sys.stdout.flush()
    main([host, event])
