"""What is before the model already: keys of facts, and reading them back from blocks (pi/R-16).

Who persists the keys is `hindsight_core.state.sessions`; a compaction empties them there, since
what it cut away is exactly what may have to be shown again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hindsight_core.identity import normalise
from hindsight_core.memory import Hit
from hindsight_core.recall.escape import OPEN_TAG, unescape
from hindsight_core.turns import RecallOutcome

_OPEN = re.compile(r"<hindsight-memory kind=\"(?:recall|briefing)\">")
_BULLET = re.compile(r"^- (?P<label>\[[^\]\n]*\] )?(?P<text>.+)$")


def key(text: str) -> str:
    """The form in which two facts are the same fact (pi/R-15)."""
    return normalise(text)


def keys(hits: Iterable[Hit]) -> tuple[str, ...]:
    """Keys of facts, in their order."""
    return tuple(key(hit.fact.text) for hit in hits)


def shown_by(outcome: RecallOutcome) -> tuple[str, ...]:
    """Keys to remember after a turn: those of the injected facts and no others (pi/R-18)."""
    return (*keys(outcome.hits), *outcome.also_shown) if outcome.block is not None else ()


def read_back(texts: Iterable[str], *, closing: str) -> frozenset[str]:
    """Keys of the facts in the blocks that a transcript holds, for a host that kept them.

    Only whole lines that begin with a bullet count, from an opening tag to the closing line (a
    reminder stands below that), or to the end where that was cut off. A label in brackets may be
    ours or the fact's own: both forms count.

    Args:
        texts: Messages since the last compaction, as the host holds them.
        closing: What ``core/close`` renders.
    """
    ends = {closing.strip(), f"</{OPEN_TAG}>"}
    found: set[str] = set()
    for text in texts:
        inside = False
        for line in text.splitlines():
            if _OPEN.fullmatch(line.strip()):
                inside = True
            elif line.strip() in ends:
                inside = False
            elif inside and (bullet := _BULLET.match(line)):
                found |= _readings(bullet)
    return frozenset(found)


def _readings(bullet: re.Match[str]) -> set[str]:
    text = unescape(bullet["text"])
    label = unescape(bullet["label"] or "")
    return {key(text), key(label + text)}
