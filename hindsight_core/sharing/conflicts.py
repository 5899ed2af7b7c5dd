"""Files that git could not merge: both sides read back, and one of three ways out of it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from hindsight_core.identity import fact_id
from hindsight_core.sharing.fact_file import FactFile, parse

Resolve = Literal["both", "newest"]
# git's own markers; the one of the common ancestor is there with merge.conflictStyle = diff3.
_MARK = re.compile(r"(?P<sign><{7}|\|{7}|={7}|>{7})(?: .*)?\Z")


def has_markers(text: str) -> bool:
    """Whether a file holds a conflict; talk about markers inside a line is none."""
    signs = [found["sign"][0] for line in text.splitlines() if (found := _MARK.match(line))]
    return signs[:1] == ["<"] and "=" in signs and ">" in signs


def sides(text: str) -> tuple[str, str]:
    """The whole file as each side of the merge has it: ours, theirs.

    Raises:
        ValueError: The markers do not belong together.
    """
    ours: list[str] = []
    theirs: list[str] = []
    place = "both"
    for line in text.splitlines():
        found = _MARK.match(line)
        sign = found["sign"][0] if found else ""
        after = {("both", "<"): "ours", ("ours", "|"): "base", ("ours", "="): "theirs",
                 ("base", "="): "theirs", ("theirs", ">"): "both"}.get((place, sign))  # fmt: skip
        if after:
            place = after
        elif sign:
            raise ValueError("its conflict markers do not belong together; correct it by hand")
        else:
            if place in ("both", "ours"):
                ours.append(line)
            if place in ("both", "theirs"):
                theirs.append(line)
    if place != "both":
        raise ValueError("a conflict in it has no end; correct it by hand")
    return "\n".join(ours) + "\n", "\n".join(theirs) + "\n"


def resolve(text: str, *, stem: str, how: Resolve) -> tuple[FactFile, ...]:
    """What is to be kept of a file with conflict markers.

    Raises:
        ValueError: One of its sides cannot be read.
    """
    ours, theirs = (parse(side, stem=stem) for side in sides(text))
    return settle(ours, theirs, how=how)


def settle(ours: FactFile, theirs: FactFile, *, how: Resolve) -> tuple[FactFile, ...]:
    """One fact where both say the same or the later one counts, else both of them.

    Two texts become two facts: ours keeps the id, theirs gets that of its own words.
    """
    if ours.digest == theirs.digest:
        return (min(ours, theirs, key=_shared_at),)
    if how == "newest" and _shared_at(ours) != _shared_at(theirs):
        return (max(ours, theirs, key=_shared_at),)
    if ours.text == theirs.text or not (ours.text and theirs.text):
        return (merged(ours, theirs),)
    other = fact_id(theirs.text)
    if other == ours.id:
        # Their words are the fact's first ones, under whose id our words stand now.
        return (theirs, replace(ours, id=fact_id(ours.text)))
    return (ours, replace(theirs, id=other))


def merged(one: FactFile, other: FactFile) -> FactFile:
    """One form of two that say the same, whichever of them is asked first.

    What is retired stays so, the earlier time counts, tags come together; a text is kept where
    the other side has deleted it.
    """
    first, second = sorted((one, other), key=lambda f: (_shared_at(f), f.digest), reverse=True)
    retired = next((f for f in (first, second) if f.state in ("superseded", "invalidated")), None)
    state = retired or next(f for f in (first, second) if f.text or f.state == "deleted")
    kinds = [f.kind for f in (first, second) if f.kind != "fact"]
    said = [f.said for f in (first, second) if f.said]
    return replace(
        first,
        text=first.text or second.text,
        kind=kinds[0] if kinds else "fact",
        category=first.category or second.category,
        state="valid" if state.state == "deleted" and (first.text or second.text) else state.state,
        superseded_by=state.superseded_by,
        reason=state.reason,
        said=min(said) if said else None,
        speaker=first.speaker or second.speaker,
        commit=first.commit or second.commit,
        files=first.files or second.files,
        tags=tuple(sorted({*first.tags, *second.tags})),
        more=tuple(dict([*second.more, *first.more]).items()),
    )


def _shared_at(shared: FactFile) -> float:
    return shared.changed.timestamp() if shared.changed else 0.0
