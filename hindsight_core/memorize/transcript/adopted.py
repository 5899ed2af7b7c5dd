"""What another plugin's cursor file says is retained already (s1/S-CUR-4).

It is ``.pi/hindsight/retain-cursors.json`` in the project. Version 3 keeps an index and the last
ids of each session, version 2 all of them, version 1 fingerprints only. What tells where the
session stood is used: a session that goes on here is not stored from its start again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.config.slugs import digest
from hindsight_core.errors import StorageError

if TYPE_CHECKING:
    from hindsight_core.transcript.entry import Entry

FILE = "hindsight/retain-cursors.json"
FOLDERS = (".pi", ".omp")
LARGEST = 16_000_000
_SAID = ("user", "assistant", "tool")


def cursor_of(session_file: str, folder: Path) -> Mapping[str, Any] | None:
    """What the file in a project's folder says of a session; None when there is nothing.

    Raises:
        StorageError: It is there and cannot be read; it does not count as empty (s1/S-CUR-5).
    """
    key = digest(session_file, length=16)
    for name in FOLDERS:
        path = folder / name / FILE
        try:
            if path.stat().st_size > LARGEST:
                raise StorageError(f"{path} is too large to be read: {LARGEST} bytes at most")
            data = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise StorageError(f"{path} cannot be read: {error}. Repair or delete it.") from error
        sessions = data.get("sessions", data) if isinstance(data, dict) else {}
        found = sessions.get(key) if isinstance(sessions, dict) else None
        if isinstance(found, list):
            return {"fingerprints": found}
        if isinstance(found, dict):
            return found
    return None


def retained_ids(cursor: Mapping[str, Any], path: Sequence[Entry]) -> tuple[str, ...]:
    """Ids of the entries of a path that are behind a cursor, from its start.

    By the last id that it knows; where it knows none of this path, by how many messages it has
    counted.
    """
    ids = {one for one in _list(cursor, "messageIds") if isinstance(one, str)}
    last = max((at for at, entry in enumerate(path) if entry.id in ids), default=None)
    if last is not None:
        return tuple(entry.id for entry in path[: last + 1])
    said = [entry.id for entry in path if entry.role in _SAID]
    index = cursor.get("index")
    counted = index + 1 if isinstance(index, int) and not isinstance(index, bool) else 0
    return tuple(said[: max(counted, 0) or len(_list(cursor, "fingerprints"))])


def _list(cursor: Mapping[str, Any], name: str) -> list[Any]:
    value = cursor.get(name)
    return value if isinstance(value, list) else []
