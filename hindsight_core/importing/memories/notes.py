"""A person's notes for agents (AGENTS.md, CLAUDE.md, MEMORY.md): a fact an item or paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from hindsight_core.errors import ConfigError
from hindsight_core.memory import Fact, Provenance
from hindsight_core.transcript.characters import clip

NAMES = ("AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "MEMORY.md")
MOST_BYTES = 4 * 1024 * 1024
SOURCE = "notes"
_LENGTH = 600
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
_ITEM = re.compile(r"(\s*)(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_FENCE = re.compile(r"\s*(```|~~~)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_RULES = re.compile(r"rule|convention|constraint|must|never|always|polic|style|regel|правил", re.I)
_MARKUP = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
FEW_LETTERS = 12


def facts_of(path: Path) -> Iterator[Fact]:
    """The facts of a file, each under the heading it stands under, dated by the file.

    Raises:
        ConfigError: The file cannot be read.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ConfigError(f"{path} is larger than {MOST_BYTES // 1024**2} MB: no notes")
        text = path.read_text("utf-8", "replace")
        when = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    for heading, said in _statements(text):
        # The heading says what it is about, and that it is told, not asked for.
        words = clip(f"{heading or path.name}: {said}", _LENGTH)
        yield Fact(
            id="",
            text=words,
            kind="constraint" if _RULES.search(heading) else "fact",
            timestamp=when,
            metadata={"file": path.name},
            provenance=Provenance(source=SOURCE, speaker="user"),
        )


@dataclass(slots=True)
class _Reading:
    """Where the reader of a file is.

    Attributes:
        headings: Those that the line stands under, by level.
        pending: Lines of the statement that is being read.
        fence: The mark that closes the code block that is being read.
        code: Its lines.
    """

    headings: dict[int, str] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)
    fence: str | None = None
    code: list[str] = field(default_factory=list)

    @property
    def heading(self) -> str:
        """The two innermost headings below the title."""
        below = [text for level, text in sorted(self.headings.items()) if level > 1]
        return " / ".join(below[-2:])

    def taken(self) -> Iterator[tuple[str, str]]:
        """The statement so far, and none from here on."""
        said = " ".join(" ".join(self.pending).split())
        self.pending = []
        if sum(c.isalpha() for c in said) >= FEW_LETTERS:
            yield self.heading, said


def _statements(text: str) -> Iterator[tuple[str, str]]:
    at = _Reading()
    for line in _COMMENT.sub("", text).splitlines():
        if at.fence is not None:
            _in_code(at, line)
        elif (fence := _FENCE.match(line)) is not None:
            at.fence, at.code = fence[1], []
        elif (found := _HEADING.match(line)) is not None:
            yield from at.taken()
            level = len(found[1])
            at.headings = {k: v for k, v in at.headings.items() if k < level}
            at.headings[level] = _plain(found[2])
        elif not line.strip() or line.lstrip().startswith(("|", "@", "---", "===")):
            # A list that a line introduces belongs to it, so an introduction waits.
            if not (at.pending and at.pending[-1].endswith(":")):
                yield from at.taken()
        elif (item := _ITEM.match(line)) is not None:
            if not (at.pending and at.pending[-1].endswith(":")):
                yield from at.taken()
            at.pending.append(_plain(item[2]))
        else:
            at.pending.append(_plain(line))
    yield from at.taken()


def _in_code(at: _Reading, line: str) -> None:
    """A short block of code belongs to what stands before it; a long one is no statement."""
    if at.fence is None or not line.strip().startswith(at.fence):
        at.code.append(line.strip())
        return
    lines = [text for text in at.code if text]
    if at.pending and len(lines) <= 3:
        at.pending += [f"`{text}`" for text in lines]
    at.fence = None


def _plain(text: str) -> str:
    return _MARKUP.sub("", _LINK.sub(r"\1", text)).strip()
