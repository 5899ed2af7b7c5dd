"""A transcript that comes through a pipe, kept in a file for as long as it is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from hindsight_core.errors import TranscriptError

NAME = "standard input"
MAX_BYTES = 256 * 1024 * 1024
_PIECE = 1 << 20


@contextmanager
def piped(source: BinaryIO) -> Iterator[Path]:
    """A private file with all that a stream holds, gone at the end.

    Readers look at a file twice, at its head and then at all of it; a pipe gives its text once.

    Raises:
        TranscriptError: More than `MAX_BYTES`, or what a reader raised, with the stream named in
            place of the file.
    """
    # The folder is private by itself (0700), whatever the umask.
    with TemporaryDirectory(prefix="hindsight-mem-") as folder:
        path = Path(folder, "stdin")
        _copy(source, path)
        try:
            yield path
        except TranscriptError as error:
            raise TranscriptError(str(error).replace(str(path), NAME)) from error


def _copy(source: BinaryIO, path: Path) -> None:
    size = 0
    with path.open("wb") as target:
        while piece := source.read(_PIECE):
            size += len(piece)
            if size > MAX_BYTES:
                limit = MAX_BYTES >> 20
                raise TranscriptError(f"{NAME} holds over {limit} MB. Save it and name the file.")
            target.write(piece)
