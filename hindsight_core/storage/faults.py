"""What SQLite's errors mean to a person, and which of them mean a corrupt file."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from hindsight_core.errors import StorageBusy, StorageError

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_DENIED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
# With the names of the files beside it; SQLite's own bound is 512.
_LONGEST = 500
_INDEX = sqlite3.SQLITE_CORRUPT_VTAB


def is_busy(error: sqlite3.Error) -> bool:
    """Another connection holds the lock."""
    return _primary(error) in _BUSY


def is_corrupt(error: sqlite3.Error) -> bool:
    """The file itself may be damaged (a search index alone is not the file)."""
    return _primary(error) in _CORRUPT and error.sqlite_errorcode != _INDEX


def explain(error: sqlite3.Error, path: Path, *, busy_ms: int) -> StorageError:
    """The same error, saying which file and what to do."""
    primary = _primary(error)
    if primary in _BUSY:
        return StorageBusy(
            f"{path} is locked by another process for more than {busy_ms} ms. Try again."
        )
    if primary == sqlite3.SQLITE_FULL:
        return StorageError(f"{path}: the disk is full. Free space and try again.")
    if primary == sqlite3.SQLITE_IOERR:
        return StorageError(
            f"{path} cannot be read or written ({error}). "
            "Check the disk: it may be full, over its quota, or failing."
        )
    if primary == sqlite3.SQLITE_CANTOPEN and len(os.fsencode(path)) > _LONGEST:
        return StorageError(
            f"{path} has a longer path than SQLite opens ({_LONGEST} bytes). "
            "Set HINDSIGHT_MEM_HOME to a shorter one."
        )
    if primary in _DENIED:
        return StorageError(
            f"{path} cannot be written ({error}). "
            "Make it and its folder writable, or set HINDSIGHT_MEM_HOME to another folder."
        )
    if primary in _CORRUPT:
        what = "its search index" if error.sqlite_errorcode == _INDEX else "the file"
        return StorageError(
            f"{path}: {what} is corrupt ({error}). Export what can be read, and import it again."
        )
    return StorageError(f"{path}: {error}")


def _primary(error: sqlite3.Error) -> int:
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF
