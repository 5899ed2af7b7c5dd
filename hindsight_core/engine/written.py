"""What the user is told after something was memorized (pi/M-25)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.memorize.report import MemorizeReport

MOST_SUBJECTS = 5
SUBJECT = 68
MIN_SUBJECT = 4
SILENT = ("recover", "shutdown:quit", "shutdown:new")
ASKED = ("manual", "resave")
NOTHING = (
    "nothing new to save: all of this session is memorized already; "
    "`/mem-save all` does it again from its start"
)
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
_MARKS = re.compile(r"^(?:[-*•>#]+\s*|\d{1,2}[.)]\s+)+|[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}")


def told(reason: str, reports: Sequence[MemorizeReport]) -> str | None:
    """The notice; None when there is nothing that the user should be told.

    Args:
        reason: Why it was memorized; nobody is there to read the notice after a shutdown.
        reports: What became of the windows. Failures are told elsewhere, as trouble.
    """
    if reason in SILENT or any(report.outcome == "failed" for report in reports):
        return None
    stored = [report for report in reports if report.stored]
    new = [report for report in stored if report.outcome in ("stored", "queued", "known")]
    retired = sum(len(report.retired) for report in reports)
    if new:
        texts = [fact.text for report in new for fact in report.stored]
        queued = all(report.outcome == "queued" for report in new)
        return notice(texts, notes=len(new), retired=retired, queued=queued)
    if retired:
        return f"nothing new to save{_retired(retired)}"
    if reason not in ASKED:
        return None
    why = next((report.reason for report in reports if report.reason), None)
    return f"nothing saved: {why}" if why else NOTHING


def notice(texts: Sequence[str], *, notes: int = 1, retired: int = 0, queued: bool = False) -> str:
    """A headline and up to five subjects, each on a line of at most 73 columns.

    Args:
        texts: The facts.
        notes: How many documents they became.
        retired: How many stored facts were retired.
        queued: They are durable here and wait for their bank.
    """
    verb = "queued" if queued else "saved"
    plural = "" if notes == 1 else "s"
    lines = "line" if len(texts) == 1 else "lines"
    head = f"{verb} {notes} note{plural} · {len(texts)} {lines}{_retired(retired)}"
    subjects = list(_subjects(texts))
    rows = [f"  · {subject}" for subject in subjects[:MOST_SUBJECTS]]
    if len(subjects) > MOST_SUBJECTS:
        rows.append(f"  · +{len(subjects) - MOST_SUBJECTS} more")
    return "\n".join([head, *rows])


def _retired(number: int) -> str:
    return f" · {number} fact{'' if number == 1 else 's'} retired" if number else ""


def _subjects(texts: Iterable[str]) -> Iterable[str]:
    """Distinct lines that say something, without marks and control characters."""
    seen = set()
    for text in texts:
        subject = _cut(_MARKS.sub("", _plain(text)).strip())
        telling = any(letter.isalnum() for letter in subject) and len(subject) >= MIN_SUBJECT
        if telling and subject not in seen:
            seen.add(subject)
            yield subject


def _plain(text: str) -> str:
    bare = _ANSI.sub("", text)
    return " ".join("".join(" " if unicodedata.category(c)[0] == "C" else c for c in bare).split())


def _cut(text: str) -> str:
    """At most 68 columns, cut at a word if that leaves more than half."""
    if _width(text) <= SUBJECT:
        return text
    kept = ""
    for letter in text:
        if _width(kept + letter) > SUBJECT - 1:
            break
        kept += letter
    space = kept.rfind(" ")
    return (kept[:space] if space > len(kept) // 2 else kept).rstrip() + "…"


def _width(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide
