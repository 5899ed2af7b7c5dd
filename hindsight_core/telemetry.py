"""The activity log: what was recalled, stored, retired and failed, one JSON object a line.

Files are ``activity-YYYY-MM-DD.jsonl`` (UTC days) under the logs folder, mode 0600, kept for 30
days. Several processes may append to one file.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.services import utc_now

if TYPE_CHECKING:
    from hindsight_core.services import Clock

_LOG = logging.getLogger(__name__)
_NAME = re.compile(r"^activity-(\d{4}-\d{2}-\d{2})(?:\.(\d+))?\.jsonl$")

KEEP_DAYS = 30
MAX_TEXT = 20_000
MAX_ITEMS = 500
MAX_DEPTH = 8
MAX_FILE_BYTES = 16_000_000
MAX_BYTES = 64_000_000

# Values under these keys are names, numbers as text, or messages of ours: never conversation.
PLAIN_KEYS = frozenset(
    "ts type stage bank backend session turn turn_id host agent model provider label outcome "
    "reason error kind action state source document id ids day version mode origin "
    "category distribution hook plugin host_reason".split()
)
_PLAIN_ENDINGS = ("_id", "_ids", "_at", "_name", "Id")
MAX_MESSAGE = 500


_TEXTLESS: ContextVar[bool] = ContextVar("hindsight_textless", default=False)


@contextmanager
def without_text() -> Iterator[None]:
    """Whatever is logged inside keeps no text, whatever ``log.include_text`` says."""
    token = _TEXTLESS.set(True)
    try:
        yield
    finally:
        _TEXTLESS.reset(token)


def keeps_text(wanted: bool) -> bool:  # noqa: FBT001 - a setting, as it is
    """Whether a log keeps text here, where the settings say so."""
    return wanted and not _TEXTLESS.get()


class ActivityLog:
    """Appends entries and reads them back (pi/O-01).

    Args:
        folder: Where the files are; made with mode 0700 when needed.
        include_text: Keep conversation text. Without it such a string is replaced by its length
            and a short hash, so that equal texts can still be told.
        enabled: False writes nothing.
        clock: Aware UTC now.
        redact: Takes secrets out of every text: names and reasons may hold one as well.
    """

    def __init__(
        self,
        folder: Path,
        *,
        include_text: bool = False,
        enabled: bool = True,
        clock: Clock = utc_now,
        redact: Callable[[str], str] = str,
    ) -> None:
        self.folder = folder
        self.malformed = 0
        self._include_text = include_text
        self._redact = redact
        self._enabled = enabled
        self._clock = clock
        self._pruned: str | None = None
        self._complained = False
        self._listeners: list[Callable[[str, Mapping[str, object]], None]] = []

    def listen(self, listener: Callable[[str, Mapping[str, object]], None]) -> None:
        """Tell somebody of every entry too, with its type and its fields as they were given."""
        self._listeners.append(listener)

    def write(self, type: str, /, **fields: object) -> None:
        """Append one entry. Never raises: a log that cannot be written costs nothing else."""
        if not self._enabled:
            return
        try:
            now = self._clock()
            entry = {"ts": now.isoformat(), "type": type, **fields}
            line = json_line(entry, include_text=self._include_text, redact=self._redact)
            self._append(now.date(), line)
            self._prune(now.date())
            for listener in self._listeners:
                listener(type, fields)
        except Exception as error:
            if not self._complained:
                self._complained = True
                _LOG.warning("the activity log %s cannot be written: %s", self.folder, error)

    def read(
        self,
        limit: int = 200,
        *,
        type: str | None = None,
        where: Callable[[Mapping[str, Any]], bool] | None = None,
    ) -> list[dict[str, Any]]:
        """The latest entries, newest first.

        A line that is no JSON object is skipped and counted in ``malformed``; it never hides the
        others (pi/D-23).

        Args:
            limit: At most this many.
            type: Only this type.
            where: A further condition.
        """
        self.malformed = 0
        found: list[dict[str, Any]] = []
        for entry in self._entries():
            if len(found) >= limit:
                break
            if (type is None or entry.get("type") == type) and (where is None or where(entry)):
                found.append(entry)
        return found

    def _entries(self) -> Iterator[dict[str, Any]]:
        for path in sorted(self._files(), key=_age, reverse=True):
            try:
                lines = path.read_bytes().split(b"\n")
            except OSError:
                continue
            for line in reversed(lines):
                if not line.strip():
                    continue
                try:
                    entry = json.loads(line)
                except (ValueError, RecursionError):
                    entry = None
                if isinstance(entry, dict):
                    yield entry
                else:
                    self.malformed += 1

    def _files(self) -> list[Path]:
        try:
            return [path for path in self.folder.iterdir() if _NAME.match(path.name)]
        except OSError:
            return []

    def _append(self, day: date, line: bytes) -> None:
        from hindsight_core.folders import private_folder

        private_folder(self.folder)
        append_line(self._path(day), line)

    def _path(self, day: date) -> Path:
        part = 0
        while True:
            suffix = f".{part}" if part else ""
            path = self.folder / f"activity-{day.isoformat()}{suffix}.jsonl"
            if not path.exists() or path.stat().st_size < MAX_FILE_BYTES:
                return path
            part += 1

    def _prune(self, today: date) -> None:
        """With each new file: what is too old goes, and the oldest of what is too much."""
        newest = self._path(today).name
        if self._pruned == newest:
            return
        self._pruned = newest
        oldest, left = (today - timedelta(days=KEEP_DAYS)).isoformat(), MAX_BYTES
        for path in sorted(self._files(), key=_age, reverse=True):
            left -= path.stat().st_size
            if _age(path)[0] < oldest or (left < 0 and path.name != newest):
                path.unlink(missing_ok=True)


def json_line(
    entry: Mapping[str, object],
    *,
    include_text: bool,
    plain: frozenset[str] = PLAIN_KEYS,
    redact: Callable[[str], str] = str,
) -> bytes:
    """One entry as a line, bounded.

    Args:
        entry: Names and values.
        include_text: Keep conversation text, but for what a person has left out of memory.
        plain: Keys whose texts are kept without it.
        redact: Takes secrets out of every text that is kept.
    """
    wanted = keeps_text(include_text)
    shown = _Form(include_text=wanted, plain=plain, redact=redact).of(entry)
    line = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    return line.encode("utf-8", "replace") + b"\n"


def append_line(path: Path, line: bytes) -> None:
    """Append to a private file, made when needed; raises `OSError`."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    handle = os.open(path, flags, 0o600)
    try:
        # One write: appends of several processes do not mix.
        if os.write(handle, line) < len(line):
            os.write(handle, b"\n")
    finally:
        os.close(handle)


def _age(path: Path) -> tuple[str, int]:
    found = _NAME.match(path.name)
    return (found[1], int(found[2] or 0)) if found else ("", 0)


class _Form:
    """Turns field values into bounded JSON values, with or without their text."""

    def __init__(
        self, *, include_text: bool, plain: frozenset[str], redact: Callable[[str], str]
    ) -> None:
        self._include_text = include_text
        self._plain = plain
        self._redact = redact

    def of(self, value: object, key: str = "type", depth: int = 0) -> object:
        if isinstance(value, str):
            return self._text(value, key)
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, datetime | date):
            return value.isoformat()
        if depth >= MAX_DEPTH:
            return "..."
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        if isinstance(value, Mapping):
            items = list(value.items())[:MAX_ITEMS]
            return {str(k)[:200]: self.of(v, str(k), depth + 1) for k, v in items}
        if isinstance(value, list | tuple | Set):
            return [self.of(item, key, depth + 1) for item in list(value)[:MAX_ITEMS]]
        return self._text(str(value), key)

    def _text(self, text: str, key: str) -> object:
        if self._include_text:
            return self._redact(text)[:MAX_TEXT]
        if key in self._plain or key.endswith(_PLAIN_ENDINGS):
            return self._redact(text)[:MAX_MESSAGE]
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        return {"characters": len(text), "sha256": digest[:12]}
