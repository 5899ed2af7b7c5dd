"""A checkout's files: which are there, what is in them, when they were written."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Literal

from hindsight_core.worktree.head import Head, made_at, read_head
from hindsight_core.worktree.tracked import Tracked

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
    _digests: dict[str, tuple[tuple[int, int], str]] = field(default_factory=dict)
    _folders: dict[Path, _Folder] = field(default_factory=dict)
    _index: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _whole: bool = False
    _looked: float = -1e9
    _made: float | None = None

    @classmethod
    def of(cls, root: Path | None) -> Tree | None:
        """The tree of a checkout, where there is one."""
        return None if root is None else cls(root)

    @cached_property
    def _tracked(self) -> Tracked:
        return Tracked(self.root)

    @cached_property
    def base(self) -> str:
        """The root as text, without a slash at its end."""
        return str(self.root).rstrip("/")

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

    def find(self, path: str) -> tuple[Place, str | None]:
        """Where a path that a text names is.

        A path need not begin at the root: people leave out ``src/``. One that leads out of the
        checkout is ``unknown``, and so is a bare name that is not at the root, one whose name git
        knows elsewhere, or any that is not found where there are too many folders to look into.
        """
        relative = self.relative(path)
        if relative is None:
            return "unknown", None
        # Strings and not paths: this is done for every fact that a turn has found.
        if os.path.exists(found := f"{self.base}/{relative}"):
            return "here", found
        for folder in self._holding(relative.partition("/")[0]):
            if os.path.exists(found := f"{folder}/{relative}"):
                return "here", found
        folder, _, name = relative.rpartition("/")
        sure = self._whole and folder and not self._tracked.holds(name)
        return ("missing" if sure else "unknown"), None

    def relative(self, path: str) -> str | None:
        """A path below the root, with ``/``; None for one elsewhere."""
        if path.startswith("~"):
            return None
        if path.startswith("/"):
            if not path.startswith(f"{self.base}/"):
                return None
            path = path.removeprefix(self.base)
        if ".." not in path and "//" not in path and path[:1] not in ("/", "."):
            return path or None
        parts = [part for part in path.split("/") if part not in ("", ".")]
        return "/".join(parts) if parts and ".." not in parts else None

    def digest(self, path: str) -> str | None:
        """Short digest of a file's content; None where it cannot be read, or is large."""
        try:
            found = os.stat(path)
            key = (found.st_mtime_ns, found.st_size)
            known = self._digests.get(path)
            if known is not None and known[0] == key:
                return known[1]
            if found.st_size > MAX_BYTES or not stat.S_ISREG(found.st_mode):
                return None
            value = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
        except OSError:
            return None
        if len(self._digests) >= _CACHED:
            self._digests.clear()
        self._digests[path] = (key, value)
        return value

    def written_at(self, path: str) -> float:
        """When a file was written, in seconds since 1970; 0 for one that is gone."""
        try:
            return os.stat(path).st_mtime
        except OSError:
            return 0.0

    def _holding(self, name: str) -> tuple[str, ...]:
        """Folders near the root that hold an entry of this name; looked for now and then."""
        if monotonic() - self._looked > _KEEP_S:
            self._looked = monotonic()
            self._look()
        return self._index.get(name, ())

    def _look(self) -> None:
        folders: dict[Path, _Folder] = {}
        self._whole = self._collect(self.root, _DEPTH, folders)
        if folders == self._folders:
            return
        self._folders = folders
        index: dict[str, list[str]] = {}
        for path, folder in folders.items():
            for name in folder.names if path != self.root else ():
                index.setdefault(name, []).append(str(path))
        self._index = {name: tuple(paths) for name, paths in index.items()}

    def _collect(self, path: Path, depth: int, found: dict[Path, _Folder]) -> bool:
        """Add a folder and those inside; False when there are too many to tell what is missing."""
        if len(found) >= MAX_FOLDERS:
            return False
        try:
            folder = _folder(path, self._folders.get(path))
        except OSError:
            return True
        found[path] = folder
        if not depth:
            return True
        return all([self._collect(path / name, depth - 1, found) for name in folder.inner])


@dataclass(frozen=True, slots=True)
class _Folder:
    """What a folder held when it was written last."""

    written: int
    names: tuple[str, ...]
    inner: tuple[str, ...]


def _folder(path: Path, known: _Folder | None) -> _Folder:
    written = path.stat().st_mtime_ns
    if known is not None and known.written == written:
        return known
    names: list[str] = []
    inner: list[str] = []
    with os.scandir(path) as entries:
        for entry in entries:
            names.append(entry.name)
            hidden = entry.name.startswith(".") or entry.name in LEFT_OUT
            if not hidden and entry.is_dir(follow_symlinks=False):
                inner.append(entry.name)
    return _Folder(written, tuple(names), tuple(sorted(inner)))
