"""The MCP SDK's own client calls each tool of ``hindsight-mem mcp``."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import mcp_types as types
import pytest

FACT = "The gateway listens on port 8443, because 443 is taken."
DETAILS = "hindsight/details"


def details(result):
    return result.meta[DETAILS]


async def test_each_tool_is_called_and_says_what_came_of_it(client):
    async with client() as session:
        stored = await session.call_tool("hindsight_retain", {"content": FACT, "kind": "decision"})
        found = await session.call_tool("hindsight_recall", {"query": "gateway port"})
        answer = await session.call_tool("hindsight_reflect", {"query": "Which gateway port?"})
        [fact] = details(found)["hits"]
        gone = await session.call_tool("hindsight_forget", {"id": fact["id"], "reason": "moved"})
        empty = await session.call_tool("hindsight_recall", {"query": "gateway port"})

    assert details(stored)["outcome"] == "stored"
    assert "8443" in found.content[0].text and fact["id"] in found.content[0].text
    assert "8443" in answer.content[0].text
    assert details(gone)["outcome"] == "retired"
    assert details(empty) == {"outcome": "empty", "hits": []}
    results = (stored, found, answer, gone, empty)
    assert not any(result.is_error for result in results)
    # The text was made for the model: agents would show it structured content instead.
    assert all(result.structured_content is None for result in results)


async def test_tools_have_schemas_and_descriptions(client):
    async with client() as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}

    assert {"hindsight_recall", "hindsight_retain", "hindsight_forget"} <= set(tools)
    assert tools["hindsight_retain"].input_schema["required"] == ["content"]
    assert tools["hindsight_recall"].input_schema["properties"]["limit"]["maximum"] == 50
    assert tools["hindsight_recall"].annotations.read_only_hint is True
    assert tools["hindsight_retain"].annotations.read_only_hint is False
    assert "shop" in tools["hindsight_recall"].description


async def test_failed_is_not_empty(client):
    async with client() as session:
        empty = await session.call_tool("hindsight_recall", {"query": "gateway"})
        unknown = await session.call_tool("hindsight_guess", {"query": "x"})
        wrong = await session.call_tool("hindsight_recall", {"limit": "many"})
    # Nobody listens there.
    async with client(HINDSIGHT_MEM_HINDSIGHT__BASE_URL="http://127.0.0.1:9") as session:
        failed = await session.call_tool("hindsight_recall", {"query": "gateway"})

    assert not empty.is_error and details(empty)["outcome"] == "empty"
    assert unknown.is_error and "hindsight_recall" in unknown.content[0].text
    assert wrong.is_error and "query" in wrong.content[0].text
    assert failed.is_error and details(failed)["outcome"] == "failed"


async def test_calls_run_side_by_side_and_keep_their_answers_apart(client):
    texts = [f"Service {name} speaks on port {9000 + n}." for n, name in enumerate("abcdefgh")]
    async with client() as session:
        stored = await asyncio.gather(
            *(session.call_tool("hindsight_retain", {"content": text}) for text in texts)
        )
        found = await asyncio.gather(
            *(session.call_tool("hindsight_recall", {"query": t, "limit": 1}) for t in texts)
        )

    assert [details(result)["outcome"] for result in stored] == ["stored"] * len(texts)
    assert [details(result)["hits"][0]["text"] for result in found] == texts


async def test_a_declared_bank_is_used_and_a_switched_off_one_stays_off(client, project):
    home = Path(os.environ["HINDSIGHT_MEM_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text('[bank]\nid = "warehouse"\n')
    async with client() as session:
        result = await session.call_tool("hindsight_retain", {"content": FACT})
    (home / "config.toml").write_text('[bank]\nid = ""\n')
    async with client() as session:
        listed = (await session.list_tools()).tools
        refused = await session.call_tool("hindsight_recall", {"query": "gateway"})

    assert details(result)["facts"][0].startswith("warehouse:")
    assert listed == []
    assert refused.is_error and "bank.id" in refused.content[0].text


async def test_started_outside_of_a_project_it_asks_the_client_for_its_folders(
    client, project, tmp_path
):
    asked = []

    async def roots(context):
        asked.append(True)
        return types.ListRootsResult(roots=[types.Root(uri=project.as_uri())])

    home = tmp_path / "home"
    home.mkdir()
    async with client(cwd=home, roots=roots, HOME=str(home)) as session:
        result = await session.call_tool("hindsight_retain", {"content": FACT})

    assert asked == [True]
    assert details(result)["facts"][0].startswith("shop:")


async def test_outside_of_any_project_a_call_fails_and_says_why(client, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    async with client(cwd=home, HOME=str(home)) as session:
        assert (await session.list_tools()).tools == []
        refused = await session.call_tool("hindsight_recall", {"query": "gateway"})

    assert refused.is_error and "bank.id" in refused.content[0].text


@pytest.mark.parametrize("name", ["HINDSIGHT_MEM_OFF", "HINDSIGHT_MEM_INSIDE"])
async def test_switched_off_it_lists_nothing_and_refuses(client, name):
    async with client(**{name: "1"}) as session:
        assert (await session.list_tools()).tools == []
        assert (await session.call_tool("hindsight_recall", {"query": "x"})).is_error


def test_it_leaves_when_it_is_told_to(project):
    process = subprocess.Popen(
        [sys.executable, "-m", "hindsight_core", "mcp"],
        cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    opening = (
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
        b'"capabilities":{},"clientInfo":{"name":"t","version":"0"}}}\n'
    )
    process.stdin.write(opening)
    process.stdin.flush()
    assert b'"id":1' in process.stdout.readline().replace(b" ", b"")
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 0
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()
