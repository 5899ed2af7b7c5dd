"""Log files of long-lived processes, which only their owner can read."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

_FORM = "%(asctime)s %(levelname)s %(name)s %(message)s"


class PrivateLog(RotatingFileHandler):
    """A rotating log that only its owner can read: paths and reasons are nobody else's."""

    def _open(self) -> TextIOWrapper:
        os.close(os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT, 0o600))
        os.chmod(self.baseFilename, 0o600)
        return super()._open()


class _Clean(logging.Formatter):
    """A line without secrets: an error may repeat an address, a traceback anything."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__(_FORM)
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))


def log_into(
    folder: Path, name: str, *, redact: Callable[[str], str], verbose: bool = False
) -> None:
    """Send what the core logs to ``folder/name``, and with ``verbose`` to stderr as well."""
    logger = logging.getLogger("hindsight_core")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    if verbose:
        logger.addHandler(logging.StreamHandler())
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = PrivateLog(folder / name, maxBytes=1_000_000, backupCount=3, delay=True)
        file.setFormatter(_Clean(redact))
        logger.addHandler(file)
    except OSError:
        # No log is no reason to refuse memory; initialize says what is wrong with the folder.
        logger.addHandler(logging.NullHandler())
