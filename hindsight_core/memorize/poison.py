"""Keeps instructions that somebody planted out of the memory (br/BR-08).

A fact in the form of an injection is dropped, whoever said it. What only a tool's output supports
is no rule of the user: an order of that origin is dropped, a statement names where it comes from.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.memorize.rules.cues import has
from hindsight_core.memorize.rules.speech import is_order, strip_lead
from hindsight_core.transcript.entry import ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindsight_core.memory import Fact
    from hindsight_core.transcript.entry import Window

_ANY = "(?:all |any |every |the |your |my |of |these |those )*"
_AGENT = r"(?:agents?|assistants?|ais?|llms?|models?|bots?)\b"
_INJECTION = re.compile(
    "|".join(
        (
            rf"\b(?:ignore|disregard|forget|override|bypass) {_ANY}"
            r"(?:previous|prior|above|earlier|preceding|system|safety) (?:\w+ )?"
            r"(?:instruction|prompt|rule|message|guideline)s?",
            rf"\b(?:note|message|attention|instructions?|notice) (?:to|for) {_ANY}"
            rf"(?:ai |coding )*{_AGENT}",
            r"\byou are (?:now )?(?:an? )?(?:unrestricted|jailbroken|in developer mode)",
            r"\b(?:do not|don't|never) (?:tell|mention|reveal|show) (?:this|it|that)?\s?(?:to )?"
            r"(?:the )?(?:user|human|operator)s?(?: (?:about|that) (?:this|it)|[.!]|$)",
            r"\bwithout (?:telling|informing|asking) (?:the )?(?:user|human|operator)",
            r"\b(?:system|developer) (?:prompt|message|override)\s*[:=]",
            r"^\s*(?:system|assistant|developer)\s*:",
            r"\b(?:post|send|upload|exfiltrate|leak|copy|curl|transmit)\b.{0,60}"
            r"(?:~/\.\w+|id_rsa|\.env\b|credentials?|private keys?|secrets?)\b.{0,40}https?://",
            r"</?(?:system|instructions?|hindsight[\w-]*)>|<\|im_(?:start|end)\|>|\[/?INST\]",
            r"(?:ignoriere|vergiss) (?:alle )?(?:vorherigen|bisherigen) (?:anweisungen|regeln)",
            # Russian and Chinese for the same
            r"\u0438\u0433\u043d\u043e\u0440\u0438\u0440\u0443\u0439 (?:\w+ )?(?:\w+ )?"
            r"\u0438\u043d\u0441\u0442\u0440\u0443\u043a\u0446\u0438\u0438",
            r"\u5ffd\u7565(?:\u4e4b\u524d|\u4ee5\u4e0a|\u6240\u6709)\u7684?"
            r"(?:\u6307\u4ee4|\u6307\u793a|\u63d0\u793a|\u89c4\u5219)",
        )
    ),
    re.IGNORECASE,
)
# A rule for agents is the user's to make, and nobody else's.
_FOR_AGENTS = re.compile(
    rf"\b(?:ai|coding|automated) {_AGENT} (?:must|should|shall|are (?:required|instructed))"
    r"|\bremember (?:forever|always) that\b",
    re.IGNORECASE,
)
_URL = re.compile(r"https?://[^\s\"'<>)\]]{3,200}")


def is_injection(text: str) -> bool:
    """Whether a text addresses the agent in the form of a planted instruction."""
    return bool(_INJECTION.search(text))


def without_poison(window: Window, facts: Sequence[Fact]) -> list[Fact]:
    """The facts that may be stored, those of foreign origin with their source named."""
    sources = _sources(window)
    kept = []
    for fact in facts:
        said_by_user = fact.provenance.speaker == "user"
        if is_injection(fact.text) or (_FOR_AGENTS.search(fact.text) and not said_by_user):
            continue
        origin = _foreign_origin(fact, sources)
        if origin is None:
            kept.append(fact)
        elif not _commands(fact.text):
            kept.append(_named(fact, origin))
    return kept


def _commands(text: str) -> bool:
    plain = text[strip_lead(text) :]
    return is_order(plain) or has("standing", plain) or has("obligation", plain)


def _named(fact: Fact, origin: str) -> Fact:
    text = fact.text if origin in fact.text else f"{fact.text} (according to {origin})"
    return replace(fact, text=text, metadata={**fact.metadata, "origin": origin})


def _foreign_origin(fact: Fact, sources: dict[str, str]) -> str | None:
    """The page or tool a fact rests on, when nothing that was said supports it."""
    if fact.provenance.speaker is not None:
        return None
    return next((sources[i] for i in fact.provenance.entry_ids if i in sources), None)


def _sources(window: Window) -> dict[str, str]:
    """Entry id of each tool result to what it shows: an address, or the tool's name."""
    asked: dict[str, str] = {}
    found: dict[str, str] = {}
    for entry in window.entries:
        for part in entry.parts:
            if isinstance(part, ToolCall):
                url = _URL.search(str(dict(part.arguments)))
                asked[part.id] = url.group().rstrip(".,;") if url else f"output of {part.name}"
            elif isinstance(part, ToolResult):
                found[entry.id] = asked.get(part.tool_call_id, f"output of {part.name}")
    return found
