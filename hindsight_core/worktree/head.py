"""Branch and commit of a checkout, read off git's files: git is never started here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_SMALL = 4_000
_PACKED = 2_000_000
_BRANCH = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Head:
    """Where a checkout stands; None for what cannot be told.

    Attributes:
        branch: The branch; None for a detached head.
        commit: The commit; None on a branch without one.
    """

    branch: str | None = None
    commit: str | None = None


def read_head(checkout: Path) -> Head:
    """The branch and commit of a checkout; never raises."""
    found = git_folders(checkout)
    if found is None:
        return Head()
    own, common = found
    text = _read(own / "HEAD", _SMALL)
    if text is None:
        return Head()
    if not text.startswith("ref:"):
        return Head(commit=_commit(text))
    name = text.removeprefix("ref:").strip()
    branch = name.removeprefix(_BRANCH) if name.startswith(_BRANCH) else None
    if not _is_plain(name):
        # With refs in another store (reftable) the file names none of them.
        return Head()
    loose = _read(own / name, _SMALL) or _read(common / name, _SMALL)
    return Head(branch, _commit(loose) if loose else _packed(common, name))


def git_folders(checkout: Path) -> tuple[Path, Path] | None:
    """The checkout's own git folder and the one that all worktrees share; None without git."""
    marker = checkout / ".git"
    if marker.is_dir():
        return marker, marker
    text = _read(marker, _SMALL)
    if text is None or not text.startswith("gitdir:"):
        return None
    own = checkout / text.removeprefix("gitdir:").strip()
    shared = _read(own / "commondir", _SMALL)
    return own, (own / shared.strip()) if shared else own


def made_at(checkout: Path) -> float:
    """When the checkout was made, in seconds since 1970: its files are no older; 0 for unknown."""
    found = git_folders(checkout)
    text = _read(found[0] / "logs" / "HEAD", _SMALL) if found else None
    first = text.split("\n", 1)[0].partition("\t")[0] if text else ""
    words = first.split()
    # `old new Name <mail> seconds zone`
    return float(words[-2]) if len(words) > 4 and words[-2].isdigit() else 0.0


def _packed(common: Path, name: str) -> str | None:
    text = _read(common / "packed-refs", _PACKED) or ""
    for line in text.splitlines():
        commit, _, ref = line.partition(" ")
        if ref == name:
            return _commit(commit)
    return None


def _is_plain(name: str) -> bool:
    return name.startswith("refs/") and ".." not in name and not name.endswith(".invalid")


def _commit(text: str) -> str | None:
    word = text.strip()
    return word if _COMMIT.match(word) else None


def _read(path: Path, limit: int) -> str | None:
    try:
        with path.open("rb") as stream:
            return stream.read(limit).decode("utf-8", "replace")
    except OSError:
        return None
