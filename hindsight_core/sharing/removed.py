"""Which files of a checkout somebody removed, and which are merely on another branch."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection
from pathlib import Path

from hindsight_core.sharing.folder import FOLDER

_LIMIT_S = 15.0


def removed_files(checkout: Path, names: Collection[str]) -> frozenset[str]:
    """Of missing files, by name, those that were removed on purpose.

    Removed in this branch's history, or by hand and not committed yet; a file that only another
    branch has is none of them, nor is any when git cannot be asked. Without git every one is.
    """
    if not names or not (checkout / ".git").exists():
        return frozenset(names)
    everywhere = _names(checkout, "log", "--all", "--name-only", "--format=", "-z")
    here = _names(checkout, "log", "--diff-filter=D", "--name-only", "--format=", "-z")
    index = _names(checkout, "ls-files", "--deleted", "-z")
    staged = _names(checkout, "diff", "--cached", "--diff-filter=D", "--name-only", "-z")
    if everywhere is None:
        return frozenset()
    wanted = frozenset(names)
    by_hand = wanted - everywhere
    return by_hand | (
        wanted & ((here or frozenset()) | (index or frozenset()) | (staged or frozenset()))
    )


def is_ignored(checkout: Path) -> bool:
    """Whether git leaves the folder out."""
    if not (checkout / ".git").exists():
        return False
    found = _git(checkout, "check-ignore", "-q", f"{FOLDER}/fact.md")
    return found is not None and found.returncode == 0


def _names(checkout: Path, *arguments: str) -> frozenset[str] | None:
    found = _git(checkout, *arguments, "--", FOLDER)
    if found is None:
        return None
    if found.returncode:
        # A repository without a commit has no history.
        return frozenset()
    paths = found.stdout.decode("utf-8", "surrogateescape").replace("\n", "\0").split("\0")
    return frozenset(path.rpartition("/")[2] for path in paths if path)


def _git(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        return subprocess.run(  # noqa: S603
            ["git", "-C", str(checkout), *arguments],  # noqa: S607
            capture_output=True,
            timeout=_LIMIT_S,
            check=False,
            env=env,
        )
    except (OSError, subprocess.SubprocessError):
        return None
