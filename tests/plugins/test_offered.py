"""Tools and slash commands of plugins, offered and run over a real bridge."""

from __future__ import annotations

import os
import sys

import pytest

from hindsight_core.plugins.scaffold import write_plugin
from hindsight_core.testing.bridge import BridgeProcess

BROKEN = """
from hindsight_core import hookimpl


class Tool:
    description = "fails"
    parameters = {"type": "object"}

    def call(self, arguments):
        raise ValueError("the outside is gone")


class Silent:
    def call(self, arguments):
        return 42


@hookimpl
def hindsight_register_tools(register):
    register("fails", lambda settings, services: Tool())
    register("odd", lambda settings, services: Silent())
    register("hindsight_recall", lambda settings, services: Tool())
    register("empty", lambda settings, services: object())


@hookimpl
def hindsight_register_commands(register):
    register("fails", lambda settings, services: 1 / 0)
"""
METADATA = "Metadata-Version: 2.1\nName: {0}\nVersion: 1.0\n"


@pytest.fixture
def bridge(tmp_path):
    """A bridge with a tool and a command of one plugin, and a plugin that does all wrong."""
    site = tmp_path / "site"
    for kind in ("tool", "slash-command"):
        folder = write_plugin(kind, "my-toy", parent=tmp_path)[0].parent
        install(site, folder.name, (next(folder.glob("src/*/__init__.py"))).read_text())
    install(site, "hindsight-mem-tool-broken", BROKEN)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "HINDSIGHT_MEM_HOME": str(tmp_path / "home"),
        "HINDSIGHT_MEM_BANK__ID": "shop",
        "PYTHONPATH": os.pathsep.join([str(site), *sys.path]),
    }
    with BridgeProcess(env=env, cwd=tmp_path) as process:
        yield process


def install(site, name, text):
    package = name.replace("-", "_")
    (site / package).mkdir(parents=True)
    (site / package / "__init__.py").write_text(text)
    info = site / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA.format(name))
    entry = f"[hindsight]\n{name.removeprefix('hindsight-mem-')} = {package}\n"
    (info / "entry_points.txt").write_text(entry)


def test_tools_and_commands_of_plugins_are_offered_and_run(bridge, tmp_path):
    opened = bridge.call(
        "initialize",
        {
            "protocol": 1,
            "client": {"name": "test", "version": "1"},
            "cwd": str(tmp_path),
            "session": {"id": "s1"},
            "capabilities": {},
        },
    )
    assert opened["state"] == "active", opened
    tools = {tool["name"]: tool for tool in opened["tools"]}
    assert tools["my-toy"]["description"] == "Today's date, in UTC."
    assert tools["hindsight_recall"]["description"] != "fails"
    assert "empty" not in tools
    [command] = [c for c in opened["commands"] if c["name"] == "my-toy"]
    assert command == {
        "name": "my-toy",
        "description": "Say it back",
        "argumentHint": "<words>",
    }
    said = bridge.call("tool/call", {"name": "my-toy", "arguments": {}})
    assert len(said["content"]) == len("2026-03-02") and not said["isError"]
    assert bridge.call("command/run", {"name": "my-toy", "arguments": "hello"}) == {
        "text": "hello",
        "level": "info",
    }
    failed = bridge.call("tool/call", {"name": "fails", "arguments": {}})
    assert failed["isError"] and "hindsight-mem-tool-broken" in failed["content"]
    assert "the outside is gone" in failed["content"]
    odd = bridge.call("tool/call", {"name": "odd", "arguments": {}})
    assert odd["isError"] and "it must be text" in odd["content"]
    assert "no command" in bridge.call("command/run", {"name": "fails", "arguments": ""})["text"]
    told = " ".join(note[1]["text"] for note in bridge.notes if note[0] == "notify")
    for what in ("tool 'hindsight_recall' is not offered", "tool 'empty'", "command 'fails'"):
        assert what in told
