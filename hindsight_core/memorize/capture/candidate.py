"""A candidate for a memory, as a model proposes it."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from hindsight_core.state.life import FactScope

KINDS = ("user_profile", "fact", "skill_workflow")
OF_WORK = ("fact", "skill_workflow")
SCOPES = ("global", "project")


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may become a memory.

    Attributes:
        text: The memory, one sentence.
        kind: One of `KINDS`.
        scope: Where it holds.
        confidence: The model's own, 0..1: a gate and nothing more.
        evidence: The words that say it.
        why: What it saves later; of investigations only.
    """

    text: str
    kind: str
    scope: FactScope
    confidence: float
    evidence: str
    why: str = ""

    @property
    def shown(self) -> str:
        """As a validator sees it: JSON."""
        fields = {
            "text": self.text,
            "kind": self.kind,
            "scope": self.scope,
            "evidence": self.evidence,
        }
        if self.why:
            fields["why_stored"] = self.why
        return json.dumps(fields, ensure_ascii=False)


def read_candidate(
    raw: object, *, kinds: Collection[str] = KINDS, needs_why: bool = False
) -> Candidate | None:
    """A candidate out of an answer; None for one that does not have the form."""
    if not isinstance(raw, Mapping):
        return None
    texts = {name: raw.get(name) for name in ("text", "kind", "scope", "evidence")}
    why = raw.get("why_stored", raw.get("whyStored"))
    confidence = raw.get("confidence")
    if not all(isinstance(value, str) and value.strip() for value in texts.values()):
        return None
    if texts["kind"] not in kinds or texts["scope"] not in SCOPES:
        return None
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        return None
    if not math.isfinite(confidence):
        return None
    if needs_why and not (isinstance(why, str) and why.strip()):
        return None
    return Candidate(
        text=str(texts["text"]).strip(),
        kind=str(texts["kind"]),
        scope=cast("FactScope", texts["scope"]),
        confidence=float(confidence),
        evidence=str(texts["evidence"]).strip(),
        why=why.strip() if isinstance(why, str) else "",
    )
