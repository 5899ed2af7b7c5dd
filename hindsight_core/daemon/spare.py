"""Where a memo is kept when the home cannot be written: what was told is not told again."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from hindsight_core.folders import private_folder


def spare_memo(host: str, session_id: str) -> dict[str, Any]:
    """What an earlier process could keep nowhere else; empty when there is nothing."""
    try:
        value = json.loads(_file(host, session_id).read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def keep_spare_memo(host: str, session_id: str, memo: dict[str, Any]) -> None:
    """Keep it in the temporary folder of this user; where that fails too, it is lost."""
    try:
        path = _file(host, session_id)
        beside = path.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(memo))
        beside.replace(path)
    except OSError:
        return


def _file(host: str, session_id: str) -> Path:
    folder = Path(tempfile.gettempdir(), f"hindsight-mem-{os.geteuid()}")
    private_folder(folder)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} is not this user's alone")
    name = hashlib.sha256(f"{host}\0{session_id}".encode(errors="replace")).hexdigest()[:32]
    return folder / f"{name}.json"
