"""Transcript files of several formats, told apart by their content."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_core.errors import HindsightError, TranscriptError
from hindsight_core.transcript.readers.lines import read_head

if TYPE_CHECKING:
    from hindsight_core.transcript.entry import Transcript
    from hindsight_core.transcript.readers.base import TranscriptReader


def read_transcript(
    path: Path, *, host: str | None = None, importers: Iterable[TranscriptReader] = ()
) -> Transcript:
    """Read a session from a file.

    Args:
        path: A session file of pi or omp, canonical JSONL, or text.
        host: Name of the format, where it is known; else the content tells.
        importers: Readers of third parties, asked before the built-in ones.

    Raises:
        TranscriptError: Missing, unreadable, empty, no text, or of an unknown form; the message
            names the file and what to do.
    """
    head = read_head(path)
    readers = [*importers, *_builtin()]
    if host is not None:
        named = [reader for reader in readers if reader.name == host]
        if not named:
            known = ", ".join(sorted({reader.name for reader in readers}))
            raise TranscriptError(f"no reader for transcripts of {host!r}. Known: {known}.")
        return _read(named[0], path)
    for reader in readers:
        if _accepts(reader, path, head):
            return _read(reader, path)
    raise TranscriptError(f"{path} is of no known form. Convert it to canonical JSONL.")


def _builtin() -> list[TranscriptReader]:
    from hindsight_core.transcript.readers.canonical import CanonicalReader
    from hindsight_core.transcript.readers.pi import PiReader
    from hindsight_core.transcript.readers.text import TextReader

    return [PiReader(), PiReader("omp"), CanonicalReader(), TextReader()]


def _accepts(reader: TranscriptReader, path: Path, head: str) -> bool:
    try:
        return bool(reader.accepts(path, head))
    except Exception:  # a third party's reader must not hide the others
        return False


def _read(reader: TranscriptReader, path: Path) -> Transcript:
    try:
        transcript = reader.read(path)
    except HindsightError:
        raise
    except Exception as error:
        raise TranscriptError(
            f"{path}: the reader {reader.name!r} failed ({type(error).__name__}: {error}). "
            "Report it to whoever ships this reader, or convert the file to canonical JSONL."
        ) from error
    return transcript if transcript.host else replace(transcript, host=reader.name)
