"""Reading a JSONL file of facts into a bank, in bulk, losing no good line to a bad one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from hindsight_core.banks.records import read_record
from hindsight_core.cli.app import App, progress
from hindsight_core.errors import ConfigError, MemoryOff

if TYPE_CHECKING:
    from hindsight_core.memory import Fact
    from hindsight_core.transcript.sanitise import Sanitiser

_SHOWN = 20
_BATCH = 2000


@dataclass
class _Reader:
    """Facts of a file, with what was wrong on the way."""

    lines: TextIO
    clean: Callable[[Fact], Fact]
    bad: list[tuple[int, str]] = field(default_factory=list)
    good: int = 0

    def facts(self) -> Iterator[Fact]:
        """Every good line's fact, sanitised."""
        for number, line in enumerate(self.lines, 1):
            if not line.strip():
                continue
            try:
                fact = self.clean(read_record(json.loads(line)))
            except json.JSONDecodeError as error:
                self.bad.append((number, f"not JSON: {error.msg}"))
            except RecursionError:
                self.bad.append((number, "not JSON: nested too deeply"))
            except ValueError as error:
                self.bad.append((number, str(error)))
            else:
                self.good += 1
                yield fact


async def import_file(app: App, file: Path) -> int:
    """Import a file; 0, or 2 when lines were bad."""
    async with app.runtime() as runtime:
        if runtime.read_only:
            raise MemoryOff("bank.read_only is set: nothing is imported")
        limit = runtime.settings.security.max_fact_characters
        sanitiser, bank = runtime.sanitiser, runtime.bank
        with _open(file) as lines:
            reader = _Reader(lines, lambda fact: cleaned(fact, sanitiser, limit=limit))
            source, changed = reader.facts(), 0
            while batch := list(islice(source, _BATCH)):
                changed += await bank.import_facts(batch)
                progress(f"{reader.good} facts read, {changed} new or changed")
        progress("")
        name = bank.id
    _report(app, reader, name, changed)
    return 2 if reader.bad else 0


def cleaned(fact: Fact, sanitiser: Sanitiser, *, limit: int) -> Fact:
    """A fact across the sanitising boundary: every text in it that a person or a model wrote.

    Raises:
        ValueError: Nothing of it is left.
    """
    clean = sanitiser.fact(fact, limit=limit)
    if not clean.text:
        raise ValueError("nothing is left of its text after sanitising")
    return clean


def _report(app: App, reader: _Reader, bank: str, changed: int) -> None:
    for number, reason in reader.bad[:_SHOWN]:
        print(f"hindsight-mem: line {number}: {reason}", file=sys.stderr)
    if len(reader.bad) > _SHOWN:
        print(f"hindsight-mem: and {len(reader.bad) - _SHOWN} more bad lines", file=sys.stderr)
    known = reader.good - changed
    data = {
        "bank": bank,
        "imported": changed,
        "unchanged": known,
        "bad": [{"line": number, "reason": reason} for number, reason in reader.bad],
    }
    text = f"{changed} facts imported into {bank}, {known} were there already"
    if reader.bad:
        text += f"; {len(reader.bad)} bad lines skipped"
    app.emit(data, lambda console: console.print(text, markup=False))


def _open(file: Path) -> TextIO | nullcontext[TextIO]:
    if str(file) == "-":
        return nullcontext(sys.stdin)
    try:
        return file.open(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error
