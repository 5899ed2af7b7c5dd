"""Lines of a file that may be huge, broken, shortened or no text at all."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from hindsight_core.errors import TranscriptError

HEAD = 16_384
MAX_LINE = 128 * 1024 * 1024
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_FORMS = "a pi or omp session file, canonical JSONL, or plain text"


def read_head(path: Path) -> str:
    """The first characters of a readable text file.

    Raises:
        TranscriptError: Missing, a folder, unreadable, empty, or not text.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise TranscriptError(f"{path} is a folder. Name the session files in it.")
        if not stat.S_ISREG(mode):
            raise TranscriptError(f"{path} is not a regular file. Copy it to a file first.")
        with path.open("rb") as source:
            raw = source.read(HEAD)
    except FileNotFoundError:
        raise TranscriptError(f"{path} does not exist. Check the path.") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise TranscriptError(f"{path} cannot be read: {reason}. Check its permissions.") from error
    except ValueError as error:
        raise TranscriptError(f"{path!s:.200} is no valid path: {error}.") from error
    if raw.startswith(_UTF16):
        raise TranscriptError(f"{path} is UTF-16. Convert it to UTF-8 (iconv -f UTF-16 -t UTF-8).")
    if not raw.strip():
        raise TranscriptError(f"{path} is empty: there is no session in it. Expected {_FORMS}.")
    if _is_binary(raw):
        raise TranscriptError(f"{path} is not text. Expected {_FORMS}.")
    return raw.decode("utf-8", "replace").removeprefix("\ufeff")


class Lines:
    """Streams a file line by line; only LF ends a line.

    Attributes:
        repaired: Lines with bytes that are no UTF-8; those became U+FFFD.
        oversized: Lines longer than MAX_LINE, left out.
        skipped_bytes: Bytes at the start that `tail_bytes` left out.
    """

    def __init__(self, path: Path, *, tail_bytes: int | None = None) -> None:
        self.path = path
        self.repaired = 0
        self.oversized = 0
        self.skipped_bytes = 0
        self._tail_bytes = tail_bytes

    def __iter__(self) -> Iterator[str]:
        try:
            with self.path.open("rb") as source:
                self._seek(source)
                while raw := source.readline(MAX_LINE):
                    if len(raw) == MAX_LINE and not raw.endswith(b"\n"):
                        self.oversized += 1
                        _finish_line(source)
                        continue
                    yield self._decode(raw)
        except OSError as error:
            raise TranscriptError(
                f"{self.path} cannot be read: {error.strerror or error}."
            ) from error

    def records(self) -> Iterator[dict[str, Any] | None]:
        """Each non-blank line as a JSON object; None for one that is not.

        A last line without its end is a record that is still being written: when it is no JSON
        it is left out without counting.
        """
        for line in self:
            if not line.strip():
                continue
            record = parse_object(line)
            if record is None and not line.endswith("\n"):
                return
            yield record

    def _seek(self, source: BinaryIO) -> None:
        if self._tail_bytes is None:
            return
        size = source.seek(0, 2)
        if size <= self._tail_bytes:
            source.seek(0)
            return
        source.seek(size - self._tail_bytes)
        _finish_line(source)
        self.skipped_bytes = source.tell()

    def _decode(self, raw: bytes) -> str:
        try:
            return raw.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError:
            self.repaired += 1
            return raw.decode("utf-8", "replace").removeprefix("\ufeff")


def parse_object(line: str) -> dict[str, Any] | None:
    """A JSON object, or None for anything else: other values, broken or bottomless JSON."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _finish_line(source: BinaryIO) -> None:
    while (rest := source.readline(1 << 20)) and not rest.endswith(b"\n"):
        pass


def _is_binary(raw: bytes) -> bool:
    if raw.lstrip()[:1] in (b"{", b"[") and b"\0" not in raw[:64]:
        return False
    controls = sum(raw.count(bytes([code])) for code in (*range(9), *range(14, 27)))
    strange = raw.decode("utf-8", "replace").count("\ufffd")
    return b"\0" in raw[:512] or (controls + strange) * 10 > len(raw)
