"""Which names git tracks, read off its index: git is never started here."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hindsight_core.worktree.head import git_folders

MAX_BYTES = 30_000_000
_HEAD = b"DIRC\0\0\0"
_PLAIN = (2, 3)
"""Versions that write paths out; the fourth leaves out what a path shares with the one before."""


@dataclass
class Tracked:
    """The names in the index of a checkout.

    Attributes:
        root: The checkout.
    """

    root: Path
    _written: int = 0
    _known: dict[str, bool] = field(default_factory=dict)

    def holds(self, name: str) -> bool:
        """Whether a tracked file in any folder has this name; False where nobody can tell."""
        folders = git_folders(self.root)
        if folders is None:
            return False
        path = folders[0] / "index"
        try:
            found = path.stat()
            if found.st_mtime_ns != self._written:
                self._written, self._known = found.st_mtime_ns, {}
            if name not in self._known:
                self._known[name] = found.st_size <= MAX_BYTES and _holds(path, name)
        except OSError:
            return False
        return self._known[name]


def _holds(path: Path, name: str) -> bool:
    data = path.read_bytes()
    # Looked for as bytes: taking the index apart would cost a hundred times as much.
    plain = data[:7] == _HEAD and data[7] in _PLAIN if len(data) > 7 else False
    return plain and b"/" + name.encode("utf-8", "surrogateescape") + b"\0" in data
