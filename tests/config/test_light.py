"""What loading may not import, and the table for the documentation."""

from __future__ import annotations

import subprocess
import sys

from hindsight_core.config import docs, schema

HEAVY = ("httpx", "numpy", "jinja2", "rich", "json5", "tomlkit", "tomllib", "click", "asyncio")


def test_loading_without_files_imports_nothing_heavy(world):
    code = (
        "import sys, pathlib\n"
        "from hindsight_core.config.layers import load\n"
        f"load(cwd=pathlib.Path({str(world.project)!r}),"
        f" env={{'HOME': {str(world.home)!r}, 'HINDSIGHT_MEM_HOME': {str(world.memory)!r}}})\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_loading_makes_nothing(world):
    world.load(host="pi")
    assert not world.memory.exists()


def test_every_setting_is_described_and_documented():
    rows = list(docs.setting_rows())
    assert len(rows) == len(schema.known_keys())
    for path, row in zip(schema.known_keys(), rows, strict=True):
        assert row.startswith(f"| `{path}` |") and not row.endswith("|  |"), row
        assert row.replace("\\|", "").count("|") == 5
    assert any(
        row == "| opencode-hindsight | `recallBanks` |  | an agent has one bank: set its bankId |"
        for row in docs.legacy_rows()
    )
