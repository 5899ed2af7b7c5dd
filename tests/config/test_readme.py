"""The configuration that the README shows is valid and means what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hindsight_core.config.bank_entries import bank_entries

README = Path(__file__).parents[2] / "README.md"


def test_the_list_of_banks(world: Any) -> None:
    [block] = re.findall(r'```toml\n(\[bank\]\nid = "code"\n.*?)```', README.read_text(), re.S)
    world.own(block)
    loaded = world.load()
    entries = {e.id: e for e in bank_entries(loaded.settings, str(loaded.bank.id))}

    assert loaded.warnings == ()
    assert list(entries) == ["code", "team", "me"]
    assert {name: entry.writes for name, entry in entries.items()} == {
        "code": "always",
        "team": "decision",
        "me": "explicit-only",
    }
    assert all(entry.readable for entry in entries.values())
