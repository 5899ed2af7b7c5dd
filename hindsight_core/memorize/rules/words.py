"""The user's own words of a message: sentences without code, pasted blocks and quotations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hindsight_core.memorize.rules.cues import has, opens

MAX_MESSAGE = 20_000
MAX_SENTENCES = 200
MAX_SENTENCE = 700
COLONS = (":", "\uff1a")
_FENCE = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)")
_ELEMENT = re.compile(r"(?s)<([A-Za-z][\w-]*)(?:\s[^<>]*)?>.*?</\1>")
_BULLET = re.compile(r"^\s*(?:[-*\u2022]|\d{1,2}[.)])\s+")
_MACHINE = re.compile(
    r"^\s*(?:\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d"
    r"|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b"
    r"|at [\w$.<>]+\(|File \"|Traceback|Caused by:|@@ |diff --git|[+\-]{3} |\$ |>>> |\w+@[\w-]+:"
    r"|#\s*!|\||(?:import|from|def|class|function|const|let|var|return|public|private|SELECT|INSERT)"
    r"\s.*[({;:=]\s*$)"
)
_KEY_VALUE = re.compile(r"^\s*[\w.\-\"']{1,40}\s*[:=]\s*\S*.{0,80}$")
# Not after a single letter of an abbreviation, nor after one or two digits (an ordinal).
_ENDS = re.compile(
    r"(?<!\b[^\W\d_]\.[^\W\d_])(?<!\d)([.!?\u2026]+[\"')\]\u201d\u00bb]*)\s+"
    r"|(?<=\d{3})(\.)\s+|([\u3002\uff01\uff1f]+)\s*"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|resp|no|nr|bzw|z\.\s?b|d\.\s?h|ca|usw|inkl|cf|al|fig"
    r"|\u0442\.\s?\u0435|\u0442\.\s?\u0434|p\.\s?ex|ej))\.$",
    re.IGNORECASE,
)
_OPEN_END = re.compile(r"[.!?:;\u3002\uff01\uff1f\uff1a\uff1b]\s*$")
_PAIRS = (('"', '"'), ("\u201c", "\u201d"), ("\u201e", "\u201c\u201d"), ("\u00ab", "\u00bb"))
# Only quotations of several words: a single quoted word is a name.
_QUOTED = re.compile(
    "|".join(rf"{a}[^{a}{b}\n]*\s[^{a}{b}\n]*[{b}]" for a, b in _PAIRS)
    + r"|(?<!\w)'[^'\n]*\s[^'\n]*'(?!\w)|\u300c[^\u300d\n]*\u300d"
)
_CODE = re.compile(r"`[^`\n]+`")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the user.

    Attributes:
        text: As written.
        masked: The same with quotations and code spans blanked, for looking at the words.
        listed: It is an item of a list.
        heading: The line that introduced the list, masked; empty outside of one.
    """

    text: str
    masked: str
    listed: bool = False
    heading: str = ""


def sentences(message: str) -> list[Sentence]:
    """The user's own sentences, in order, bounded."""
    found: list[Sentence] = []
    for line, listed, heading in _own_lines(_bounded(message)):
        for text in _split(line):
            if len(text) <= MAX_SENTENCE:
                found.append(Sentence(text, mask(text), listed, heading))
        if len(found) >= MAX_SENTENCES:
            break
    return found[:MAX_SENTENCES]


def mask(text: str) -> str:
    """A sentence whose quotations and code spans say nothing about the speaker's intent."""
    return _CODE.sub("`x`", _QUOTED.sub('"x"', text)).replace("\u2019", "'")


def unquoted(text: str) -> list[str]:
    """What is left of a text around its quotations of several words; code spans stay."""
    return _QUOTED.split(text)


def _bounded(message: str) -> str:
    if len(message) <= MAX_MESSAGE:
        return message
    half = MAX_MESSAGE // 2
    return f"{message[:half]}\n\n{message[-half:]}"


def _own_lines(message: str) -> Iterator[tuple[str, bool, str]]:
    """Lines (wrapped ones joined) with whether each is a list item, and the list's heading.

    After a line such as "he wrote:" the rest of the message is another's words, unless a block
    opens with a request to remember it.
    """
    text = _ELEMENT.sub("\n", _FENCE.sub("\n", message.replace("\r\n", "\n")))
    heading, pasted = "", False
    for block in re.split(r"\n[ \t]*\n", text):
        lines = [line for line in block.split("\n") if line.strip()]
        pasted = pasted and not (lines and opens("remember", lines[0].strip()))
        if pasted or _is_pasted(lines):
            continue
        for line in _joined(lines):
            plain = line.strip()
            bullet = _BULLET.match(line)
            if bullet:
                yield line[bullet.end() :].strip(), True, heading
            elif _foreign(line):
                continue
            elif plain.endswith(COLONS):
                heading = mask(plain)
                own = has("remember", heading) or has("standing", heading)
                pasted = has("quoting", heading) and not own
                if pasted:
                    break
            else:
                heading = ""
                yield plain, False, ""


def _joined(lines: list[str]) -> list[str]:
    """Hard-wrapped lines put together again."""
    found: list[str] = []
    for line in lines:
        wrapped = (
            found
            and len(found[-1]) > 40
            and not _OPEN_END.search(found[-1])
            and re.match(r"\s{0,3}[^\W\d_A-Z]", line)
            and not _foreign(line)
        )
        if wrapped:
            found[-1] = f"{found[-1].rstrip()} {line.strip()}"
        else:
            found.append(line)
    return found


def _is_pasted(lines: list[str]) -> bool:
    pairs = [line for line in lines if _KEY_VALUE.match(line) and not _BULLET.match(line)]
    if (
        len(pairs) >= 2
        and len(pairs) * 5 >= len(lines) * 4
        and not any(has("remember", p) for p in pairs)
    ):
        return True
    return len(lines) > 3 and sum(map(_foreign, lines)) * 2 > len(lines)


def _foreign(line: str) -> bool:
    """Whether a line is quoted, code, or made by a machine."""
    if line.lstrip().startswith(">") or _MACHINE.match(line):
        return True
    if re.match(r"(?: {4,}|\t)", line) and not _BULLET.match(line):
        return True
    visible = [c for c in line if not c.isspace()]
    letters = sum(c.isalnum() for c in visible)
    return len(visible) > 12 and letters * 2 < len(visible)


def _split(line: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for match in _ENDS.finditer(line):
        piece = line[start : match.end()].strip()
        if _ABBREVIATION.search(piece):
            continue
        parts.append(piece)
        start = match.end()
    parts.append(line[start:].strip())
    return [part for part in parts if part]
