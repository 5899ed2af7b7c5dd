"""``hindsight-mem bank export``: everything a bank holds, as JSONL."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from hindsight_core.cli.app import App, common
from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from hindsight_core.runtime import Runtime


@click.command()
@common
@click.argument("file", required=False, type=click.Path(path_type=Path, allow_dash=True))
def export(app: App, file: Path | None) -> None:
    """Write all that a bank holds as JSONL, to FILE or standard output.

    Facts in every state with their provenance, then documents, then the identities of sentences
    that were deleted for good, then how facts stand (confidence, feedback). A FILE is only there
    when it is whole. `bank import` reads it back exactly.
    """
    app.run(_export(app, file))


async def _export(app: App, file: Path | None) -> None:
    count = facts = 0
    async with app.runtime(read_only=True) as runtime:
        with _out(file) as out:
            async for line in _lines(runtime):
                out.write(line + "\n")
                count += 1
                facts += not line.startswith('{"record"')
    if file is not None and str(file) != "-":
        data = {"exported": facts, "lines": count, "file": str(file)}
        text = f"{facts} facts written to {file}"
        if count > facts:
            text += f", and {count - facts} lines about documents, deletions and feedback"
        app.emit(data, lambda console: console.print(text, markup=False))


async def _lines(runtime: Runtime) -> AsyncIterator[str]:
    from hindsight_core.banks.export_lines import export_lines
    from hindsight_core.cli.life_lines import life_lines

    async for line in export_lines(runtime.bank):
        yield line
    async for line in life_lines(runtime):
        yield line


def _out(file: Path | None) -> AbstractContextManager[TextIO]:
    if file is None or str(file) == "-":
        return nullcontext(sys.stdout)
    return _whole(file)


@contextmanager
def _whole(file: Path) -> Iterator[TextIO]:
    """A file that takes its name only when all of it is written; a pipe is written as it is."""
    special = file.exists() and not file.is_file()
    beside = file if special else file.with_name(f".{file.name}.part")
    try:
        with beside.open("w", encoding="utf-8") as out:
            yield out
        if not special:
            beside.replace(file)
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror or error}") from error
    finally:
        if not special:
            beside.unlink(missing_ok=True)
