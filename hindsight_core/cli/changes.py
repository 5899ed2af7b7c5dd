"""Shows and writes what a host's installation plan says."""

from __future__ import annotations

import difflib
from pathlib import Path

from hindsight_core.errors import StorageError
from hindsight_core.host import Change, InstallPlan

BACKUP = ".hindsight-backup"


def write_all(plan: InstallPlan) -> None:
    """Write a plan's files, in its order.

    Raises:
        StorageError: A place cannot be written; the files before it are.
    """
    for change in plan.changes:
        _write(change)


def diff(plan: InstallPlan) -> str:
    """What a plan would change, as a unified diff."""
    return "".join(_diff(change) for change in plan.changes)


def _write(change: Change) -> None:
    # A configuration file is often a link into a folder of dotfiles: keep the link.
    path = change.path.resolve() if change.path.is_symlink() else change.path
    try:
        if change.after is None:
            change.path.unlink(missing_ok=True)
            if change.ours and path.parent.is_dir() and not any(path.parent.iterdir()):
                path.parent.rmdir()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        backup = change.path.with_name(change.path.name + BACKUP)
        if change.before is not None and not change.ours and not backup.exists():
            _replace(backup, change.before, mode=_mode(path))
        # Written beside it and moved over it: a full disk never leaves half a file.
        _replace(path, change.after, mode=_mode(path))
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error


def _replace(path: Path, text: str, *, mode: int) -> None:
    beside = path.with_name(f".{path.name}.hindsight-new")
    # As bytes: the line ends are the file's own.
    beside.write_bytes(text.encode("utf-8"))
    beside.chmod(mode)
    beside.replace(path)


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777 if path.exists() else 0o600


def _diff(change: Change) -> str:
    name = str(change.path)
    lines = difflib.unified_diff(
        (change.before or "").splitlines(keepends=True),
        (change.after or "").splitlines(keepends=True),
        fromfile=name if change.before is not None else "/dev/null",
        tofile=name if change.after is not None else "/dev/null",
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
