"""An MCP server in a process of its own, and the SDK's client."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that declares no bank."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def client(project: Path, tmp_path: Path) -> Callable[..., object]:
    """A session with ``hindsight-mem mcp``, started as an agent would start it."""

    @asynccontextmanager
    async def connect(
        *, cwd: Path = project, roots: object = None, **env: str
    ) -> AsyncIterator[ClientSession]:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "hindsight_core", "mcp"],
            cwd=str(cwd),
            env={**os.environ, **env},
        )
        with (tmp_path / "stderr.txt").open("a") as errors:
            async with (
                stdio_client(server, errlog=errors) as (read, write),
                ClientSession(read, write, list_roots_callback=roots) as session,  # type: ignore[arg-type]
            ):
                await session.initialize()
                yield session

    return connect
