"""Without the SDK the command says what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def start(*arguments: str, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code + "; from hindsight_core.cli.entry import main; main()", "mcp"],
        env=dict(os.environ), capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip


def test_the_install_command_is_named():
    said = start(code="import sys; sys.modules['mcp'] = None")

    assert said.returncode == 2
    assert said.stdout == ""
    assert "pip install 'hindsight-core[mcp]'" in said.stderr


def test_an_older_sdk_is_no_sdk():
    said = start(code="import sys; sys.modules['mcp_types'] = None")

    assert said.returncode == 2
    assert "version 2" in said.stderr


def test_help_needs_no_sdk(tmp_path: Path):
    code = "import sys; sys.modules['mcp'] = None; sys.argv.append('--help')"

    assert start(code=code).returncode == 0
