"""A checkout's files: which are there, what is in them, when they were written."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Literal

from hindsight_core.worktree.head import Head, made_at, read_head

Place = Literal["here", "missing", "unknown"]
MAX_BYTES = 2_000_000
MAX_FOLDERS = 400
_DEPTH = 2
_CACHED = 2_048
_KEEP_S = 20.0
# Made by tools: a path is found in them when it is written out, and not looked for else.
LEFT_OUT = frozenset(
    {"node_modules", "__pycache__", "venv", "target", "dist", "build", "vendor", "site-packages"}
)


@dataclass
class Tree:
    """The files of one checkout, looked at with bounds.

    Attributes:
        root: The checkout.
    """

    root: Path
    _digests: dict[Path, tuple[tuple[int, int], str]] = field(default_factory=dict)
    _folders: tuple[Path, ...] = ()
    _whole: bool = False
    _looked: float = -1e9
    _made: float | None = None

    @classmethod
    def of(cls, root: Path | None) -> Tree | None:
        """The tree of a checkout, where there is one."""
        return None if root is None else cls(root)

    @property
    def head(self) -> Head:
        """Branch and commit now."""
        return read_head(self.root)

    @property
    def made_at(self) -> float:
        """When the checkout was made, in seconds since 1970; 0 for unknown."""
        if self._made is None:
            self._made = made_at(self.root)
        return self._made

    def find(self, path: str) -> tuple[Place, Path | None]:
        """Where a path that a text names is.

        A path need not begin at the root: people leave out ``src/``. One that leads out of the
        checkout is ``unknown``, and so is a bare name that is not at the root, or any that is not
        found where there are too many folders to look into.
        """
        relative = self.relative(path)
        if relative is None:
            return "unknown", None
        if (found := self._file(self.root / relative)) is not None:
            return "here", found
        for folder in self._inner():
            if (found := self._file(folder / relative)) is not None:
                return "here", found
        return ("missing" if self._whole and "/" in relative else "unknown"), None

    def relative(self, path: str) -> str | None:
        """A path below the root, with ``/``; None for one elsewhere."""
        if path.startswith("~"):
            return None
        if path.startswith("/"):
            root = f"{self.root.as_posix().rstrip('/')}/"
            if not path.startswith(root):
                return None
            path = path.removeprefix(root)
        parts = [part for part in path.split("/") if part not in ("", ".")]
        return "/".join(parts) if parts and ".." not in parts else None

    def digest(self, path: Path) -> str | None:
        """Short digest of a file's content; None where it cannot be read, or is large."""
        try:
            found = path.stat()
            key = (found.st_mtime_ns, found.st_size)
            known = self._digests.get(path)
            if known is not None and known[0] == key:
                return known[1]
            if found.st_size > MAX_BYTES or not stat.S_ISREG(found.st_mode):
                return None
            value = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        except OSError:
            return None
        if len(self._digests) >= _CACHED:
            self._digests.clear()
        self._digests[path] = (key, value)
        return value

    def written_at(self, path: Path) -> float:
        """When a file was written, in seconds since 1970; 0 for one that is gone."""
        try:
            return path.stat().st_mtime
        except OSError:
            return 0.0

    def _file(self, path: Path) -> Path | None:
        try:
            return path if path.exists() else None
        except OSError:
            return None

    def _inner(self) -> tuple[Path, ...]:
        """Folders near the root, looked for now and then."""
        if monotonic() - self._looked > _KEEP_S:
            self._looked = monotonic()
            found: list[Path] = []
            self._whole = self._collect(self.root, _DEPTH, found)
            self._folders = tuple(found)
        return self._folders

    def _collect(self, folder: Path, depth: int, found: list[Path]) -> bool:
        """Add the folders inside; False when there are too many to tell what is not there."""
        try:
            with os.scandir(folder) as entries:
                inner = sorted(
                    entry.name
                    for entry in entries
                    if entry.is_dir(follow_symlinks=False)
                    and not entry.name.startswith(".")
                    and entry.name not in LEFT_OUT
                )
        except OSError:
            return True
        for name in inner:
            if len(found) >= MAX_FOLDERS:
                return False
            found.append(folder / name)
            if depth > 1 and not self._collect(folder / name, depth - 1, found):
                return False
        return True
