"""Reading a JSONL file into a bank, in bulk, losing no good line to a bad one."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from hindsight_core.banks.base import CopyingBank
from hindsight_core.banks.export_lines import Aside, Forgotten, NewerVersion, read_line
from hindsight_core.cli.app import App, progress
from hindsight_core.cli.life_lines import read_life, store_lives
from hindsight_core.errors import ConfigError, MemoryOff
from hindsight_core.memory import DocumentCopy, Fact

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime
    from hindsight_core.state.life import LifeRecord
    from hindsight_core.transcript.sanitise import Sanitiser

_SHOWN = 20
_BATCH = 2000
Life = tuple[str, "LifeRecord"]
Item = Fact | DocumentCopy | Forgotten | Life


@dataclass
class _Reader:
    """What a file holds, with what was wrong on the way.

    Attributes:
        lines: The file.
        name: It, for messages.
        sanitiser: The boundary that every text crosses.
        limit: Bound of a fact's text.
        bad: Line numbers with what is wrong.
        good: How many facts were read.
    """

    lines: TextIO
    name: str
    sanitiser: Sanitiser
    limit: int
    bad: list[tuple[int, str]] = field(default_factory=list)
    good: int = 0

    def items(self) -> Iterator[Item]:
        """What every good line holds, sanitised.

        Raises:
            ConfigError: The file begins with a line of a newer version; nothing is read then.
        """
        begun = False
        for number, line in enumerate(self.lines, 1):
            if not line.strip():
                continue
            try:
                item = self._clean(read_line(line.removeprefix("\ufeff")))
            except json.JSONDecodeError as error:
                self.bad.append((number, _torn(line) or f"not JSON: {error.msg}"))
            except NewerVersion as error:
                if not begun:
                    raise ConfigError(f"{self.name}: {error}. Nothing was imported.") from None
                self.bad.append((number, str(error)))
            except ValueError as error:
                self.bad.append((number, str(error)))
            else:
                self.good += isinstance(item, Fact)
                yield item
            begun = True

    def _clean(self, item: Fact | DocumentCopy | Forgotten | Aside) -> Item:
        match item:
            case Fact():
                return cleaned(item, self.sanitiser, limit=self.limit)
            case DocumentCopy():
                return replace(item, document=self.sanitiser.document(item.document))
            case Forgotten():
                return item
            case Aside():
                return read_life(item, self.sanitiser)


@dataclass
class _Done:
    """What an import changed: new or different things, and what the bank cannot keep."""

    facts: int = 0
    documents: int = 0
    forgotten: int = 0
    lives: int = 0
    left: int = 0


async def import_file(app: App, file: Path) -> int:
    """Import a file; 0, or 2 when lines were bad."""
    async with app.runtime() as runtime:
        if runtime.read_only:
            raise MemoryOff("bank.read_only is set: nothing is imported")
        limit = runtime.settings.security.max_fact_characters
        bank, done = runtime.bank, _Done()
        with _open(file) as lines:
            reader = _Reader(lines, str(file), runtime.sanitiser, limit)
            for kind, items in groupby(reader.items(), key=type):
                while batch := list(islice(items, _BATCH)):
                    await _store(runtime, kind, batch, done)
                    progress(f"{reader.good} facts read, {done.facts} new or changed")
        progress("")
        name = bank.id
    _report(app, reader, name, done)
    return 2 if reader.bad else 0


async def _store(runtime: Runtime, kind: type[Item], batch: list[Item], done: _Done) -> None:
    bank = runtime.bank
    if kind is tuple:
        done.lives += await store_lives(runtime, [i for i in batch if isinstance(i, tuple)])
    elif kind is Fact:
        done.facts += await bank.import_facts([f for f in batch if isinstance(f, Fact)])
    elif not isinstance(bank, CopyingBank):
        done.left += len(batch)
    elif kind is DocumentCopy:
        copies = [item for item in batch if isinstance(item, DocumentCopy)]
        done.documents += await bank.import_documents(copies)
    else:
        contents = [item.content for item in batch if isinstance(item, Forgotten)]
        done.forgotten += await bank.forget(contents)


def cleaned(fact: Fact, sanitiser: Sanitiser, *, limit: int) -> Fact:
    """A fact across the sanitising boundary: every text in it that a person or a model wrote.

    Raises:
        ValueError: Nothing of it is left.
    """
    clean = sanitiser.fact(fact, limit=limit)
    if not clean.text:
        raise ValueError("nothing is left of its text after sanitising")
    return clean


def _torn(line: str) -> str | None:
    """What is wrong with a last line that was cut off; None for any other."""
    if line.endswith("\n") or line.rstrip().endswith("}"):
        return None
    return "the file ends in the middle of this line: it is not whole. Export or copy it again"


def _report(app: App, reader: _Reader, bank: str, done: _Done) -> None:
    for number, reason in reader.bad[:_SHOWN]:
        print(f"hindsight-mem: line {number}: {reason}", file=sys.stderr)
    if len(reader.bad) > _SHOWN:
        print(f"hindsight-mem: and {len(reader.bad) - _SHOWN} more bad lines", file=sys.stderr)
    known = reader.good - done.facts
    data = {
        "bank": bank,
        "imported": done.facts,
        "unchanged": known,
        "documents": done.documents,
        "forgotten": done.forgotten,
        "lives": done.lives,
        "left": done.left,
        "bad": [{"line": number, "reason": reason} for number, reason in reader.bad],
    }
    text = f"{done.facts} facts imported into {bank}, {known} were there already"
    if done.documents:
        text += f"; {done.documents} documents new or changed"
    if done.lives:
        text += f"; how {done.lives} facts stand"
    if done.left:
        text += f"; {done.left} documents and deletions left out: this bank cannot keep them"
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
