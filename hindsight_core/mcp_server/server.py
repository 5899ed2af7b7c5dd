"""The MCP server: the SDK's protocol on one side, a `ToolSession` on the other."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from hindsight_core.host import READ_TOOLS
from hindsight_core.mcp_server.session import ToolSession

NAME = "hindsight"
DETAILS = "hindsight/details"
ROOTS_TIMEOUT_S = 3.0
Context = ServerRequestContext[Any, Any]


class McpServer:
    """The memory tools of one MCP client.

    Args:
        host: The agent program, where the wiring names it.
        env: The environment, for configuration.
        cwd: The folder that the server was started in.
        instructions: What the client may tell its model about the memory.
        version: Ours.
    """

    def __init__(
        self,
        *,
        host: str,
        env: Mapping[str, str],
        cwd: Path,
        instructions: str = "",
        version: str = "",
    ) -> None:
        self.session = ToolSession(host=host, env=env, cwd=cwd, roots=self._roots)
        self.sdk = Server(
            NAME,
            version=version,
            instructions=instructions or None,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        self._context: Context | None = None

    async def _list(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        self._context = context
        tools = [
            types.Tool(
                name=tool["name"],
                description=tool["description"],
                input_schema=tool["parameters"] or {"type": "object"},
                annotations=types.ToolAnnotations(
                    read_only_hint=tool["name"] in READ_TOOLS, destructive_hint=False
                ),
            )
            for tool in await self.session.tools()
        ]
        return types.ListToolsResult(tools=tools)

    async def _call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        self._context = context
        result = await self.session.call(params.name, params.arguments or {})
        # Not as structured content: agents would show the model that, and the text is what was
        # made for it, with everything escaped.
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=result["content"])],
            is_error=result["isError"],
            _meta={DETAILS: result.get("details") or {}},
        )

    async def _roots(self) -> Sequence[Path]:
        """The folders that the client works in; none when it does not say."""
        context = self._context
        wanted = types.ClientCapabilities(roots=types.RootsCapability())
        if context is None or not context.session.check_client_capability(wanted):
            return ()
        try:
            async with asyncio.timeout(ROOTS_TIMEOUT_S):
                listed = await context.session.send_request(
                    types.ListRootsRequest(), types.ListRootsResult
                )
        except Exception:
            # A client that declares roots and gives none; the folder of the process remains.
            return ()
        urls = (urlsplit(str(root.uri)) for root in listed.roots)
        return tuple(Path(unquote(url.path)) for url in urls if url.scheme == "file")


async def serve(server: McpServer) -> None:
    """Serve stdin and stdout until the client is gone."""
    loop = asyncio.get_running_loop()
    leaving: list[asyncio.Task[None]] = []
    with suppress(NotImplementedError, RuntimeError):
        loop.add_signal_handler(
            signal.SIGTERM, lambda: leaving.append(loop.create_task(_leave(server)))
        )
    try:
        async with stdio_server() as (read, write):
            await server.sdk.run(read, write, server.sdk.create_initialization_options())
    finally:
        await server.session.close()


async def _leave(server: McpServer) -> None:
    await server.session.close()
    # A thread of the SDK blocks on stdin and would keep the process.
    os._exit(0)
