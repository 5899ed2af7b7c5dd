"""``hindsight-mem remember FILE...``: the memorize pipeline over transcript files."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common, progress
from hindsight_core.errors import HindsightError, TranscriptError

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.memorize.runner import MemorizeReport
    from hindsight_core.runtime import Runtime
    from hindsight_core.transcript.entry import Transcript
    from hindsight_core.transcript.readers.base import TranscriptReader


STDIN = "-"
ONE_SENTENCE = 'To save one sentence: echo "..." | hindsight-mem remember -'
WITHOUT = "without a model: only what the user stated or asked to keep"
ODDITIES = {
    "unknown": "record(s) of an unknown form were left out",
    "skipped": "entries were left out: the file is too large",
    "repaired": "line(s) had broken characters, which were repaired",
}


@click.command()
@common
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--host", metavar="NAME", help="Read FILE as this host's format.")
def remember(app: App, files: tuple[str, ...], host: str | None) -> int:
    """Memorize session files, canonical JSONL or plain text; - is standard input.

    To save one sentence: echo "..." | hindsight-mem remember -

    A file that was memorized before costs nothing: only what is new since then is looked at.
    """
    return app.run(_remember(app, files, host))


async def _remember(app: App, files: tuple[str, ...], host: str | None) -> int:
    results = []
    async with app.runtime() as runtime:
        for number, file in enumerate(files, 1):
            progress(f"{file} ({number} of {len(files)})")
            results.append(await _one(runtime, file, host))
        progress("")
        bank, models = runtime.bank_id, runtime.models
        model = models.label("retain") if models.available("retain") else None
    app.emit(
        {"bank": bank, "model": model, "files": results},
        lambda console: _show(console, bank, model, results),
    )
    for result in results:
        if result["outcome"] in ("unreadable", "failed", "queued"):
            print(f"hindsight-mem: {_trouble(result)}", file=sys.stderr)
    if any(result["outcome"] in ("failed", "queued") for result in results):
        return 1
    return 2 if any(result["outcome"] == "unreadable" for result in results) else 0


async def _one(runtime: Runtime, file: str, host: str | None) -> dict[str, Any]:
    try:
        transcript = _read(runtime, file, host)
    except TranscriptError as error:
        reason = f"{error} {ONE_SENTENCE}" if _is_nothing(file) else str(error)
        return {"file": file, "outcome": "unreadable", "reason": reason, "facts": []}
    # A file may name its session by anything; the name is written to many places.
    named = runtime.sanitiser.entry_id(transcript.session_id)
    transcript = replace(transcript, session_id=named)
    try:
        reports = await runtime.memorizer.remember_transcript(transcript, reason="manual")
    except HindsightError as error:
        return {"file": file, "outcome": "failed", "reason": str(error), "facts": []}
    for report in reports:
        runtime.record(report, session=transcript.session_id)
    return {
        "file": file,
        "session": transcript.session_id,
        "host": transcript.host,
        "entries": len(transcript.entries),
        "unknown": transcript.unknown,
        "skipped": transcript.skipped,
        "repaired": transcript.repaired,
        **summary(runtime.bank_id, reports),
    }


def _read(runtime: Runtime, file: str, host: str | None) -> Transcript:
    from hindsight_core.transcript.readers import read_transcript

    importers = [item.factory() for item in runtime.hooks.importers.values()]
    with _source(file) as path:
        return read_transcript(path, host=host, importers=[*importers, *_of_hosts()])


@contextmanager
def _source(file: str) -> Iterator[Path]:
    from hindsight_core.transcript.readers.stream import piped

    if file != STDIN:
        yield Path(file)
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise TranscriptError(f"nothing is piped into standard input. {ONE_SENTENCE}")
    with piped(sys.stdin.buffer) as path:
        yield path


def _is_nothing(file: str) -> bool:
    """Whether this can be no path of anything here, as a sentence is not."""
    try:
        os.stat(file)
    except OSError as error:
        return file != STDIN and error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
    except ValueError:
        return True
    return False


def _of_hosts() -> list[TranscriptReader]:
    """Readers that the installed hosts bring; a broken one is `doctor`'s to tell."""
    from hindsight_core.plugins import installed_hosts, load_host
    from hindsight_core.transcript.past import ReadingHost

    found: list[TranscriptReader] = []
    for name in installed_hosts():
        with suppress(HindsightError):
            if isinstance(host := load_host(name), ReadingHost):
                found += host.transcript_readers()
    return found


def _trouble(result: dict[str, Any]) -> str:
    reason, file = str(result["reason"]), str(result["file"])
    return reason if file in reason or file == STDIN else f"{file}: {reason}"


def summary(bank: str, reports: list[MemorizeReport]) -> dict[str, Any]:
    """What the windows of one session came to, as the command line tells it."""
    outcomes = {report.outcome for report in reports}
    order = ("failed", "queued", "stored", "known", "empty", "skipped")
    outcome = next((name for name in order if name in outcomes), "known")
    reasons = [report.reason for report in reports if report.outcome == outcome and report.reason]
    return {
        "outcome": outcome,
        "reason": reasons[0] if reasons else None if reports else "memorized before, nothing new",
        "documents": [r.document_id for r in reports if r.document_id and r.stored],
        "facts": [
            {"id": f"{bank}:{fact.id}", "text": fact.text, "kind": fact.kind}
            for report in reports
            for fact in report.stored
        ],
        "known": sum(report.known for report in reports),
        "superseded": sum(report.superseded for report in reports),
        "rejected": [why for report in reports for why in report.rejected],
    }


def _show(console: Console, bank: str, model: str | None, results: list[dict[str, Any]]) -> None:
    how = f"with {model}" if model else WITHOUT
    for result in results:
        facts = result["facts"]
        count = f"{len(facts)} fact{'' if len(facts) == 1 else 's'}"
        console.print(f"{result['file']}: {result['outcome']}, {count}", markup=False)
        for fact in facts:
            console.print(f"  + [{fact['kind']}] {fact['text']}", markup=False)
        if result.get("superseded"):
            console.print(f"  {result['superseded']} older fact(s) superseded", markup=False)
        if result["reason"]:
            console.print(f"  {result['reason']}", markup=False)
        for name, text in ODDITIES.items():
            if result.get(name):
                console.print(f"  {result[name]} {text}", markup=False)
    console.print(f"bank {bank}, {how}", markup=False, style="dim")
