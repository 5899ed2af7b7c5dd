"""Keeps instructions that somebody planted out of the memory (br/BR-08).

A fact is dropped when it addresses the agent in the forms of an injection, whoever said it. What
only a tool's output supports is no rule: an order of that origin is dropped, a statement names
the source it comes from.
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

_INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass) (?:all |any |every |the |your |my )*(?:previous|prior|above|earlier|preceding|system|safety|security) (?:\w+ )?(?:instruction|prompt|rule|message|check|guideline)s?"
    r"|\b(?:note|message|attention|instructions?|notice) (?:to|for) (?:all |any |the |ai |coding )*(?:agents?|assistants?|ais?|llms?|models?|bots?)\b"
    r"|\b(?:ai|coding|automated) (?:agents?|assistants?) (?:must|should|shall|are (?:required|instructed))\b"
    r"|\byou are (?:now )?(?:an? )?(?:unrestricted|jailbroken|dan\b|in developer mode|no longer bound)"
    r"|\b(?:do not|don't|never) (?:tell|inform|mention|reveal|show)\b.{0,30}\b(?:the )?(?:user|human|operator|person)\b"
    r"|\b(?:system|developer) (?:prompt|message|override)\s*[:=]|^\s*(?:system|assistant|developer)\s*:"
    r"|\b(?:post|send|upload|exfiltrate|leak|copy|curl|transmit)\b.{0,60}(?:~/\.\w+|id_rsa|\.env\b|credentials?|private keys?|secrets?|tokens?)\b.{0,40}(?:https?://|to )"
    r"|</?(?:system|instructions?|hindsight[\w-]*)>|<\|im_(?:start|end)\|>|\[/?INST\]"
    r"|(?:ignoriere|vergiss) (?:alle )?(?:vorherigen|bisherigen) (?:anweisungen|regeln)"
    r"|игнорируй (?:все )?(?:предыдущие|прошлые) (?:инструкции|указания)|忽略(?:之前|以上|所有)的?(?:指令|指示|提示|规则)",
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
        if is_injection(fact.text):
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
    """The tool or page a fact rests on, when nothing that was said supports it."""
    ids = fact.provenance.entry_ids
    if not ids or fact.provenance.speaker is not None:
        return None
    return next((sources[entry_id] for entry_id in ids if entry_id in sources), None)


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
