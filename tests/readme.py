"""Writes the generated parts of README.md: ``python tests/readme.py``, ``--check`` compares."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

from hindsight_core.config.docs import HEAD, OLD_HEAD, legacy_rows, setting_rows
from hindsight_core.hookspecs import HookSpecs
from hindsight_core.plugins.events import EVENTS

ROOT = Path(__file__).resolve().parents[1]


def hook_rows() -> list[str]:
    """One row a hook: its call, and the first paragraph of its docstring."""
    rows = ["| hook | |", "|---|---|"]
    for name, hook in vars(HookSpecs).items():
        if name.startswith("hindsight_"):
            arguments = [p for p in inspect.signature(hook).parameters if p != "self"]
            first = " ".join((inspect.getdoc(hook) or "").split("\n\n")[0].split())
            cell = first.replace("|", "\\|").replace("``", "`")
            rows.append(f"| `{name}({', '.join(arguments)})` | {cell} |")
    return rows


def event_rows() -> list[str]:
    """One row an event, with its fields."""
    rows = ["| event | fields |", "|---|---|"]
    return rows + [f"| `{name}` | {', '.join(fields)} |" for name, fields in EVENTS.items()]


def generated(text: str) -> str:
    """README text with its generated parts renewed."""
    parts = {
        "hooks": hook_rows(),
        "events": event_rows(),
        "settings": [*HEAD, *setting_rows()],
        "legacy": [*OLD_HEAD, *legacy_rows()],
    }
    for name, lines in parts.items():
        body = "\n".join(lines)
        text = re.sub(
            rf"<!-- {name} -->.*?<!-- /{name} -->",
            lambda _, body=body, name=name: f"<!-- {name} -->\n{body}\n<!-- /{name} -->",
            text,
            flags=re.DOTALL,
        )
    return text


if __name__ == "__main__":
    readme = ROOT / "README.md"
    before = readme.read_text("utf-8")
    after = generated(before)
    if "--check" in sys.argv:
        sys.exit(before != after)
    readme.write_text(after, "utf-8")
