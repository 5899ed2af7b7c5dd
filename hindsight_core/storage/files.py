"""The file under a database: made private, recognised, set aside when it is corrupt."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from hindsight_core.errors import StorageError
from hindsight_core.folders import private_folder

NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "fuse.sshfs"}
)
Identity = tuple[int, int] | None


def make_room(path: Path) -> None:
    """Create folder (0700) and file (0600) if they are not there.

    Raises:
        StorageError: They cannot be created, or SQLite's locks do not work there.
    """
    try:
        private_folder(path.parent)
        if not path.exists():
            _create(path)
    except OSError as error:
        raise StorageError(
            f"cannot create {path}: {error.strerror or error}. "
            "Free space or make the folder writable, or set HINDSIGHT_MEM_HOME to another one."
        ) from error
    kind = file_system(path.parent)
    if kind in NETWORK_FILE_SYSTEMS:
        raise StorageError(
            f"{path} is on a network file system ({kind}), where SQLite locks are not "
            "safe. Set HINDSIGHT_MEM_HOME to a local folder."
        )


def identity(path: Path) -> Identity:
    """What tells this file from another of the same name; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_missing(path: Path) -> bool:
    """Whether there is no such file; one that cannot be looked at is not missing."""
    try:
        path.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def file_system(folder: Path) -> str | None:
    """Type of the file system that holds a folder, where /proc tells (Linux); else None."""
    try:
        mounts = Path("/proc/self/mounts").read_text(errors="replace").splitlines()
    except OSError:
        return None
    target, best, kind = str(folder.resolve()), "", None
    for line in mounts:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].replace("\\040", " ")
        inside = target == point or target.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, fields[2]
    return kind


def move_aside(path: Path) -> Path:
    """Rename a corrupt file and its log, and put an empty file in its place.

    The log goes first: one that stayed behind would be replayed into the new file.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    target = path.with_name(f"{path.name}.corrupt-{stamp}")
    for suffix in ("-wal", "-shm"):
        side = path.with_name(path.name + suffix)
        if side.exists():
            shutil.move(side, target.with_name(target.name + suffix))
    shutil.move(path, target)
    _create(path)
    return target


@contextmanager
def repairing(path: Path) -> Iterator[None]:
    """One process at a time repairs a file; the lock ends with its holder, however it ends."""
    handle = os.open(path.with_name(f"{path.name}.repair"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        with suppress(ImportError):  # a system without fcntl: processes are not kept apart
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _create(path: Path) -> None:
    # Never open a database that exists: closing the handle would end this process's own
    # SQLite locks on it.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
