"""When files were last committed. This starts git, and is never used where somebody waits."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection
from pathlib import Path

_LIMIT_S = 30.0
_AT_ONCE = 200


def committed_at(root: Path, paths: Collection[str]) -> dict[str, float]:
    """Path to the time of its last commit, in seconds since 1970; without git it is empty."""
    if not (root / ".git").exists():
        return {}
    wanted = sorted(set(paths))
    found: dict[str, float] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        for path, moment in _log(root, wanted[start : start + _AT_ONCE]):
            found.setdefault(path, moment)
    return found


def _log(root: Path, paths: list[str]) -> list[tuple[str, float]]:
    """Pairs of path and time, the newest first."""
    command = ["git", "-C", str(root), "-c", "core.quotepath=off", "log", "--format=%x00%ct"]
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603
            [*command, "--name-only", "--relative", "--", *paths],
            capture_output=True,
            timeout=_LIMIT_S,
            check=False,
            env=env,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    pairs: list[tuple[str, float]] = []
    for commit in done.stdout.decode("utf-8", "surrogateescape").split("\0")[1:]:
        moment, _, names = commit.partition("\n")
        pairs += [(name, float(moment)) for name in names.splitlines() if name]
    return pairs
