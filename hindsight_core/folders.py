"""Folders that are their owner's alone."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def private_folder(folder: Path) -> None:
    """Create a folder for its owner alone (0700), with every parent that is missing.

    ``mkdir(parents=True)`` would give the parents, such as the home itself, the usual mode.

    Raises:
        OSError: It cannot be created.
    """
    missing = [folder, *folder.parents]
    for place in reversed([place for place in missing if not place.exists()]):
        place.mkdir(mode=0o700, exist_ok=True)
    if not folder.is_dir():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
