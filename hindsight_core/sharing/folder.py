"""The folder of shared facts in a checkout: read with bounds, written one file at a time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hindsight_core.errors import StorageError
from hindsight_core.sharing.conflicts import has_markers
from hindsight_core.sharing.fact_file import SUFFIX, FactFile, parse, render

FOLDER = ".hindsight/facts"
MAX_FILES = 100_000
MAX_BYTES = 64_000


@dataclass
class Reading:
    """What the folder holds.

    Attributes:
        facts: File name to fact.
        conflicts: File name to text, for files that git could not merge.
        problems: File name to what is wrong with it.
    """

    facts: dict[str, FactFile] = field(default_factory=dict)
    conflicts: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many files there are."""
        return len(self.facts) + len(self.conflicts) + len(self.problems)


class FactFolder:
    """``.hindsight/facts`` of a checkout.

    Args:
        checkout: The worktree.
    """

    def __init__(self, checkout: Path) -> None:
        self.path = checkout / FOLDER
        self._checkout = checkout

    def exists(self) -> bool:
        """Whether there is one, and it is inside the checkout."""
        return self.path.is_dir() and self._inside()

    def signature(self) -> str:
        """Changes when a file comes, goes or is written; cheap: no file is opened."""
        total = hashlib.sha256()
        for entry in self._entries():
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            total.update(f"{entry.name}\0{found.st_mtime_ns}\0{found.st_size}\n".encode())
        return total.hexdigest()[:32]

    def read(self) -> Reading:
        """Every file; one that cannot be read costs no other.

        Raises:
            StorageError: There are too many: what is not read must not pass for removed.
        """
        reading = Reading()
        for number, entry in enumerate(self._entries()):
            if number >= MAX_FILES:
                raise StorageError(
                    f"{self.path} has more than {MAX_FILES} files: share fewer facts, and remove "
                    "files that are not facts"
                )
            try:
                text = _text(entry)
                if has_markers(text):
                    reading.conflicts[entry.name] = text
                else:
                    stem = entry.name.removesuffix(SUFFIX)
                    reading.facts[entry.name] = parse(text, stem=stem)
            except ValueError as error:
                reading.problems[entry.name] = str(error)
            except OSError as error:
                reading.problems[entry.name] = error.strerror or str(error)
        return reading

    def write(self, name: str, shared: FactFile) -> None:
        """Replace one file in one step.

        Raises:
            StorageError: The folder cannot be written.
        """
        self._require_inside()
        beside = self.path / f".{name}.new"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(render(shared).encode())
            beside.replace(self.path / name)
        except OSError as error:
            raise StorageError(
                f"{self.path / name}: cannot be written: {error.strerror or error}"
            ) from None

    def _inside(self) -> bool:
        # The folder may be a link that a repository brings along.
        return self.path.resolve() == self._checkout.resolve() / FOLDER

    def _require_inside(self) -> None:
        if not self._inside():
            raise StorageError(f"{self.path} is a link that leads elsewhere: make it a folder")

    def _entries(self) -> Iterator[os.DirEntry[str]]:
        if not self._inside():
            return
        try:
            with os.scandir(self.path) as found:
                names = [e for e in found if e.name.endswith(SUFFIX) and not _aside(e.name)]
        except OSError:
            return
        yield from sorted(names, key=lambda entry: entry.name)


def _aside(name: str) -> bool:
    """Hidden files, and what stands there for people."""
    return name.startswith(".") or name.lower() == "readme.md"


def _text(entry: os.DirEntry[str]) -> str:
    # A link could lead out of the repository: what it names must not become a fact.
    if entry.is_symlink() or not entry.is_file(follow_symlinks=False):
        raise ValueError("no regular file: links are not followed")
    with open(entry.path, "rb") as stream:
        raw = stream.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES} bytes: no fact")
    if b"\0" in raw:
        raise ValueError("not a text")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 (byte {error.start})") from None
