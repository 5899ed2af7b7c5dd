"""Recognises what is not conversation: memory blocks in every form, and host-made passages.

A region runs from an opening mark to the *last* closing mark of the same kind before the next
opening, so that text inside a block that imitates its end does not end it. An opening without
an end runs to the end of the text, an end without an opening starts at the beginning: a host
may have truncated either side.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_LT = r"(?:<|&(?:amp;){0,3}(?:lt|#0{0,4}60|#x0{0,4}3c);|\\{1,4}u003c)"
_GT = r"(?:>|&(?:amp;){0,3}(?:gt|#0{0,4}62|#x0{0,4}3e);|\\{1,4}u003e)"
_OURS = r"hindsight[-_]?(?:memor(?:y|ies)|mental[-_]?models?)|relevant[-_]memor(?:y|ies)"
_HOST = (
    r"system[-_]reminder|task-notification|local-command-(?:stdout|stderr|caveat)"
    r"|command-(?:name|message|args)|environment_(?:context|details)|user_instructions"
    r"|ide_(?:opened_file|selection|diagnostics)|bash-(?:input|stdout|stderr)|turn_aborted"
    r"|user-prompt-submit-hook|post-tool-use-hook"
)
_TAG = re.compile(
    rf"(?P<lt>{_LT})\s{{0,4}}(?P<close>\\?/)?\s{{0,4}}"
    rf"(?P<name>(?P<ours>{_OURS})|(?P<generic>memories)|(?P<host>{_HOST}))(?![\w-])"
    rf"(?:[^<>\n]{{0,400}}?{_GT})?",
    re.IGNORECASE,
)
_HINTS = ("memor", "mental", "reminder", "notif", "command", "environment_", "user_instr", "ide_")
_MORE_HINTS = ("bash-", "turn_aborted", "-hook")
_PARTIAL = re.compile(rf"{_LT}\s{{0,4}}/?hindsight[-_]\w{{0,12}}\Z", re.IGNORECASE)
_FENCE_OPEN = re.compile(
    r"\U0001f9e0[^\w\n]{0,3}recall\b(?=[^\n]{0,40}\n[ \t]{0,4}[-*] Bank query)"
    r"|(?:Injected facts|What memory knows about this task) \(untrusted memory",
    re.IGNORECASE,
)
_FENCE_CLOSE = re.compile(r"-{2,}[ \t]{0,3}end of recalled memory[ \t]{0,3}-{2,}", re.IGNORECASE)
_SNAPSHOT = re.compile(r"\bhindsight[/-](?:last-recall\.json|shown)\b")
_ROUNDS = 5
_BLANK_RUN = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")
_CONTINUED = (
    "this session is being continued from a previous conversation",
    "the conversation history before this point was compacted into the following summary",
    "another language model started to solve this problem and produced a summary",
)


@dataclass(frozen=True, slots=True)
class _Mark:
    """An opening or closing mark; marks of one `kind` belong together."""

    kind: str
    start: int
    end: int
    closes: bool
    to_end: bool  # an opening without an end: the rest of the text is its inside
    from_start: bool  # an end without an opening: what stands before is its inside


def strip_blocks(text: str) -> str:
    """Text without memory blocks of ours, of the older plugins, and host-made passages."""
    # Without a region a mark may stand alone in its line that did not before.
    for _ in range(_ROUNDS):
        marks = sorted((*_tags(text), *_fences(text)), key=lambda mark: mark.start)
        regions = list(_regions(marks, len(text)))
        if not regions:
            break
        text = _without(text, regions)
    while "hindsight" in text[-80:].lower() and (cut := _PARTIAL.search(text, len(text) - 80)):
        text = text[: cut.start()]
    return text


def neutralise(text: str) -> str:
    """Text in which nothing opens or closes a block, without losing words (br/BR-08)."""
    if any(hint in text.lower() for hint in ("memor", "mental")):
        # The fence first: what stood before it may be a tag only without it.
        text = _FENCE_CLOSE.sub("(end of recalled memory)", text)
        text = _TAG.sub(_quoted, text)
    return text


def is_continuation(text: str) -> bool:
    """Whether a message is a host's own summary of an earlier context (br/BR-38)."""
    return text.lstrip()[:120].lower().startswith(_CONTINUED)


def is_block(text: str) -> bool:
    """Whether a stored text is, or holds, a block of recalled memory (s1/S-QP-1).

    A closing mark alone is none: a fact may try to end the block that it is shown in (br/BR-08).
    """
    opens = any(mark.kind.startswith("ours ") and not mark.closes for mark in _tags(text))
    fenced = any(not mark.closes for mark in _fences(text))
    return opens or fenced or bool(_SNAPSHOT.search(text))


def _quoted(found: re.Match[str]) -> str:
    if found["host"]:
        return found[0]
    return f"\u2039{'/' if found['close'] else ''}{found['name']}\u203a"


def _tags(text: str) -> Iterable[_Mark]:
    low = text.lower()
    if not any(hint in low for hint in (*_HINTS, *_MORE_HINTS)):
        return
    for found in _TAG.finditer(text):
        ours, host = bool(found["ours"]), bool(found["host"])
        name = "ours" if ours else found["name"].lower()
        line = text[max(0, found.start() - 80) : found.start()].rpartition("\n")[2]
        alone = not line.strip() or text[found.end() : found.end() + 1] == "\n"
        yield _Mark(
            # Escaped marks belong to escaped blocks: facts inside a block have theirs escaped.
            kind=f"{name} {found['lt'].lower()}",
            start=found.start(),
            end=found.end(),
            closes=bool(found["close"]),
            to_end=ours or alone or (host and "reminder" in name),
            from_start=ours,
        )


def _fences(text: str) -> Iterable[_Mark]:
    if "(untrusted memory" not in text and "recalled memory" not in text.lower():
        return
    for found in _FENCE_OPEN.finditer(text):
        yield _fence(found)
    for found in _FENCE_CLOSE.finditer(text):
        yield _fence(found, closes=True)


def _fence(found: re.Match[str], *, closes: bool = False) -> _Mark:
    return _Mark("fence", found.start(), found.end(), closes, to_end=not closes, from_start=closes)


def _regions(marks: Sequence[_Mark], size: int) -> Iterator[tuple[int, int]]:
    done = 0
    places = {kind: [n for n, m in enumerate(marks) if m.kind == kind] for kind in _kinds(marks)}
    unclosed: set[str] = set()
    for number, mark in enumerate(marks):
        if mark.start < done:
            continue
        if mark.closes:
            if mark.from_start:
                yield done, mark.end
                done = mark.end
            continue
        last = None if mark.kind in unclosed else _last_close(marks, places[mark.kind], number)
        if last is not None:
            yield mark.start, last.end
            done = last.end
            continue
        unclosed.add(mark.kind)
        if mark.to_end:
            yield mark.start, size
            return


def _last_close(marks: Sequence[_Mark], places: Sequence[int], opening: int) -> _Mark | None:
    """The last closing mark before the next opening that follows a closing one."""
    last = None
    for at in range(bisect_right(places, opening), len(places)):
        mark = marks[places[at]]
        if mark.closes:
            last = mark
        elif last is not None:
            break
    return last


def _kinds(marks: Iterable[_Mark]) -> set[str]:
    return {mark.kind for mark in marks}


def _without(text: str, regions: Iterable[tuple[int, int]]) -> str:
    # A removed region leaves a line end, so that its two sides never join to a new mark.
    kept, at = [], 0
    for start, end in regions:
        if start > at:
            kept.append(text[at:start])
        at = max(at, end)
    kept.append(text[at:])
    return _BLANK_RUN.sub("\n\n", "\n".join(part for part in kept if part.strip()))
