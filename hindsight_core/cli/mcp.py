"""``hindsight-mem mcp``: the memory tools as an MCP server on stdin and stdout."""

from __future__ import annotations

import asyncio
import gc
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    from hindsight_core.mcp_server.server import McpServer

EXTRA = "pip install 'hindsight-core[mcp]'"


@click.command()
@click.option("--host", default="mcp", show_default=True, metavar="NAME", help="The agent program.")
@click.option("--verbose", is_flag=True, help="Log to stderr as well.")
def mcp(host: str, *, verbose: bool) -> None:
    """Serve the memory tools to one MCP client, for the project of the folder it starts in.

    Needs the extra: pip install 'hindsight-core[mcp]'.
    """
    require_sdk()
    from hindsight_core.cli.bridge import log_to

    log_to("mcp.log", verbose=verbose)
    asyncio.run(_run(host))


async def _run(host: str) -> None:
    # An agent's first request does not wait for a slow server: import first, collect later.
    gc.disable()
    from hindsight_core.mcp_server.server import serve

    server = open_server(host)
    gc.freeze()
    gc.enable()
    await serve(server)


def require_sdk() -> None:
    """Say what to install when the SDK is not there.

    Raises:
        ConfigError: The extra is missing, or brings an older major version.
    """
    if find_spec("mcp") is None:
        raise ConfigError(f"the MCP server needs the extra `mcp`: {EXTRA}")
    if find_spec("mcp_types") is None:
        raise ConfigError(f"the MCP server needs version 2 of the package mcp: {EXTRA}")


def open_server(host: str) -> McpServer:
    """The server for this folder and environment."""
    from importlib.metadata import version

    from hindsight_core.cli.companion import companion
    from hindsight_core.mcp_server.server import NAME, McpServer

    return McpServer(
        host=host,
        env=os.environ,
        cwd=Path.cwd(),
        instructions=companion("hosts/mcp/instructions", server=NAME),
        version=version("hindsight-core"),
    )
