"""Which projects may configure us, where no host can say.

What is kept is the project's folder and a digest of everything in it that would act: its
configuration and its templates. A project that is not kept is not trusted; one that has changed
since is not trusted any more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from hindsight_core.config.files import locked, write_text
from hindsight_core.errors import StorageError

ACTING = (
    ".hindsight/config.toml",
    ".hindsight/config.json",
    ".pi/hindsight.json",
    ".pi/hindsight.jsonc",
    ".pi/active-memory.json",
    ".omp/hindsight.json",
    ".omp/hindsight.jsonc",
)
TEMPLATES = ".hindsight/templates"
MAX_FILES = 500


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a project is trusted.

    Attributes:
        trusted: It may configure us.
        changed: It was trusted, but something that acts is different now.
    """

    trusted: bool
    changed: bool = False


def acting_files(folder: Path) -> tuple[Path, ...]:
    """The files of a project that would act if it were trusted."""
    found = [folder / name for name in ACTING if (folder / name).is_file()]
    templates = sorted(path for path in _templates(folder) if path.is_file())
    return (*found, *templates[:MAX_FILES])


def fingerprint(folder: Path) -> str:
    """Digest of the acting files, by their names and contents."""
    total = hashlib.sha256()
    for path in acting_files(folder):
        try:
            content = path.read_bytes()
        except OSError:
            content = b"unreadable"
        name = path.relative_to(folder).as_posix().encode("utf-8", "surrogateescape")
        total.update(name + b"\0" + hashlib.sha256(content).digest())
    return total.hexdigest()


def _templates(folder: Path) -> Iterator[Path]:
    root = folder / TEMPLATES
    return root.rglob("*.j2") if root.is_dir() else iter(())


class TrustStore:
    """The projects a person has trusted.

    Args:
        path: `Paths.trust`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def verdict(self, root: Path, checkout: Path) -> Verdict:
        """Whether the files in a checkout are the ones that were trusted for its project."""
        record = self.projects().get(str(root))
        if record is None:
            return Verdict(trusted=False)
        same = record.get("digest") == fingerprint(checkout)
        return Verdict(trusted=same, changed=not same)

    def add(self, root: Path, checkout: Path, *, now: datetime) -> str:
        """Trust a project as it is now; gives the digest kept.

        Raises:
            StorageError: The home folder cannot be written.
        """
        digest = fingerprint(checkout)
        self._change({str(root): {"digest": digest, "at": now.isoformat()}})
        return digest

    def remove(self, root: Path) -> bool:
        """Trust a project no longer; False when it was not trusted."""
        if str(root) not in self.projects():
            return False
        self._change({str(root): None})
        return True

    def projects(self) -> dict[str, dict[str, Any]]:
        """Folder -> what is kept about it; a file that cannot be read trusts nobody."""
        try:
            table = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        kept = table.get("projects") if isinstance(table, dict) else None
        if not isinstance(kept, dict):
            return {}
        return {name: record for name, record in kept.items() if isinstance(record, dict)}

    def _change(self, changes: dict[str, dict[str, Any] | None]) -> None:
        try:
            with locked(self._path):
                projects = {**self.projects(), **changes}
                kept = {name: record for name, record in projects.items() if record}
                text = json.dumps({"version": 1, "projects": kept}, indent=2, ensure_ascii=False)
                write_text(self._path, text + "\n")
        except OSError as error:
            raise StorageError(
                f"{self._path}: cannot be written: {error.strerror or error}. "
                "Make it writable, or set HINDSIGHT_MEM_HOME to another folder."
            ) from None
