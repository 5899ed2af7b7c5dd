"""A logged recall in words: why each fact was or was not injected (pi/R-22)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hindsight_core.recall.merge import MIN_SCORE

_WHY = {
    "injected": "injected",
    "shown": "left out: it is before the model already",
    "duplicate": "left out: a better query brought the same text",
    "cut": "left out: over the cap of lines (recall.max_lines)",
    "unjudged": "left out: its query was not judged",
    "blank-memory": "left out: it has no text",
    "recall-contamination": "left out: it is a block of recalled memory",
    "duplicate-memory": "left out: the bank gave the same text twice",
    "below-score-floor": "left out: below a floor (recall.min_scores)",
}

Entry = Mapping[str, Any]
Texts = Mapping[str, str]


def account(entry: Entry, texts: Texts) -> list[str]:
    """Lines for a person.

    Args:
        entry: A ``recall`` entry of the activity log.
        texts: Texts of facts by id, where the log does not hold them.
    """
    why = str(entry.get("reason") or "").removesuffix(" (degraded)")
    reason = f": {why}" if why else ""
    lines = [
        f"turn {entry.get('turn')} of session {entry.get('session')}, {entry.get('ts', '')}",
        f"{entry.get('outcome')}{reason}",
        f"{entry.get('injected', 0)} injected of {entry.get('found', 0)} found,"
        f" {entry.get('took_ms', '?')} ms",
    ]
    if isinstance(entry.get("prompt"), str):
        lines.append(f"prompt: {entry['prompt']}")
    for query in entry.get("queries") or ():
        lines += ["", *_query(query, texts, judged=bool(entry.get("judged")))]
    return lines


def ids_without_text(entry: Entry) -> list[str]:
    """Ids of the facts whose text the log does not hold."""
    hits = [hit for query in entry.get("queries") or () for hit in query.get("hits") or ()]
    return list(dict.fromkeys(hit["id"] for hit in hits if not isinstance(hit.get("text"), str)))


def _query(query: Entry, texts: Texts, *, judged: bool) -> Iterator[str]:
    text = query.get("text")
    shown = text if isinstance(text, str) else "(text not logged: log.include_text is off)"
    yield f"bank {query.get('bank')}, query: {shown}"
    if query.get("error"):
        yield f"  failed: {query['error']}"
        return
    hits = query.get("hits") or ()
    score = f", the judge scored it {query.get('score')}" if judged else ", no judge looked"
    failed = " (the judge failed)" if query.get("judge_failed") else ""
    yield f"  looked at {len(hits)} of {query.get('found', 0)} found{score}{failed}"
    for hit in hits:
        text = hit.get("text")
        shown = text if isinstance(text, str) else texts.get(hit.get("id", ""), "")
        yield f"  {_why(hit, query, judged=judged)}"
        yield f"    {hit.get('id')}  {shown}".rstrip()
        parts = ", ".join(f"{name} {value}" for name, value in (hit.get("parts") or {}).items())
        yield f"    score {hit.get('score')}{f' ({parts})' if parts else ''}"


def _why(hit: Entry, query: Entry, *, judged: bool) -> str:
    outcome = str(hit.get("outcome"))
    if outcome == "dropped":
        if judged:
            return "left out: the judge did not keep it"
        return "left out: too little in common with the prompt, and no judge looked"
    if outcome == "weak-query":
        return f"left out: its query scored {query.get('score')}, {MIN_SCORE} are needed"
    return _WHY.get(outcome, outcome)
