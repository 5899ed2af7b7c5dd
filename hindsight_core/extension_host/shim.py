"""The files that a JavaScript host loads: its shim, the shared client, how to start a bridge."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from hindsight_core.host import Change, InstallRequest


def shim_changes(
    request: InstallRequest,
    *,
    package: str,
    own: Iterable[str],
    shared: Iterable[str],
    folder: Path | None = None,
) -> list[Change]:
    """What writes them; with ``after`` set to None, what removes them.

    Args:
        request: How the bridge is started.
        package: The host's package; its own files are in the folder ``shim`` there.
        own: Names of its own files.
        shared: Names of files of `hindsight_core.bridge`.
        folder: Where they go; None for our own folder of this host.
    """
    folder = folder or request.shims
    theirs, ours = files(package) / "shim", files("hindsight_core") / "bridge"
    launch = {"command": list(request.command), "env": dict(request.bridge_env)}
    texts = {name: (theirs / name).read_text("utf-8") for name in own}
    texts |= {name: (ours / name).read_text("utf-8") for name in shared}
    texts["launch.json"] = json.dumps(launch, indent=2) + "\n"
    # They are modules whatever package.json stands above them.
    texts["package.json"] = json.dumps({"type": "module", "private": True}) + "\n"
    return [
        Change(folder / name, present(folder / name), text, ours=True)
        for name, text in texts.items()
    ]


def removed(changes: Iterable[Change]) -> list[Change]:
    """What takes the same files away again."""
    return [Change(change.path, change.before, None, ours=True) for change in changes]


def present(path: Path) -> str | None:
    """A file's text; None where there is none that can be read."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
