"""Gates that need no model: evidence, passing intents, confidence (am/A-CAP, steps 3 to 5)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.memorize.capture.candidate import Candidate

FORM = "invalid_schema_or_kind"
NO_EVIDENCE = "evidence_not_in_user_message"
PASSING = "transient_task_intent"
UNSURE = "low_confidence"
NOT_OF_WORK = "invalid_evidence_kind_or_confidence"
REFUSED = "durability_or_entailment_validation_failed"
_SPACE = re.compile(r"\s+")
_LEAST = 3
_PASSING = re.compile(
    r"\b(?:for now|right now|this task|this session|current task|let's try"
    r"|wants? to try|wanted to try|plan(?:s|ned)? to try)\b"
)
_SEEMS = re.compile(r"\b(?:appears? to|seems? to|suspects?)\b")
_FIND_OUT = re.compile(r"\b(?:inspect|investigate|debug|diagnose|find out|fix)\b")


def normalised(text: str) -> str:
    """Lower case, straight apostrophes, single spaces."""
    return _SPACE.sub(" ", text.lower().replace("\u2019", "'").replace("\u2018", "'")).strip()


def is_said(evidence: str, source: str) -> bool:
    """Whether the source holds these very words."""
    wanted = normalised(evidence)
    return len(wanted) >= _LEAST and wanted in normalised(source)


def is_passing(text: str, evidence: str) -> bool:
    """Whether it is about this task only: a trial, a plan, a suspicion to be looked into."""
    if _PASSING.search(normalised(f"{text} {evidence}")):
        return True
    return bool(_SEEMS.search(normalised(text)) and _FIND_OUT.search(normalised(evidence)))


def why_not_said(candidate: Candidate | None, user_text: str, *, least: float) -> str | None:
    """The first reason against a candidate from a user's message; None when there is none."""
    if candidate is None:
        return FORM
    if not is_said(candidate.evidence, user_text):
        return NO_EVIDENCE
    if is_passing(candidate.text, candidate.evidence):
        return PASSING
    return UNSURE if candidate.confidence < least else None


def why_not_found(candidate: Candidate | None, work: str, *, least: float) -> str | None:
    """The same for one from an investigation (am/A-ASST-3)."""
    if candidate is None or not is_said(candidate.evidence, work) or candidate.confidence < least:
        return NOT_OF_WORK
    return None
