"""One shared fact as a text file: a field a line, then the text, so that git can merge it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, cast

from hindsight_core.identity import fact_id

if TYPE_CHECKING:
    from hindsight_core.memory import Fact

SharedState = Literal["valid", "superseded", "invalidated", "deleted"]
VERSION = 1
SUFFIX = ".md"
_FENCE = "---"
_STATES = ("valid", "superseded", "invalidated", "deleted")
_SAFE = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}\Z")
_IDENTITY = re.compile(r"[0-9a-f]{20}\Z")
_FIELD = re.compile(r"(?P<key>[A-Za-z][\w-]{0,40}):(?:\s+(?P<value>.*))?\Z")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class FactFile:
    """What of a fact is shared. Sessions, quotes and metadata stay where they are.

    Attributes:
        id: The fact's id, the same in every bank.
        text: One line; empty for a fact that was deleted for good.
        kind: As in `Fact`.
        category: As in `Fact`.
        state: ``deleted`` stands for a fact of which nothing is left.
        superseded_by: As in `Fact`.
        reason: As in `Fact`.
        said: When it was said (UTC).
        speaker: Whose words it is.
        tags: As in `Fact`.
        commit: The commit it was said on.
        files: As in `Provenance`, to compare with everybody's working tree.
        changed: When somebody last shared another form of it (UTC); no part of the content.
        more: Fields of a later version, kept as they are.
    """

    id: str
    text: str
    kind: str = "fact"
    category: str | None = None
    state: SharedState = "valid"
    superseded_by: str | None = None
    reason: str | None = None
    said: datetime | None = None
    speaker: str | None = None
    tags: tuple[str, ...] = ()
    commit: str | None = None
    files: tuple[tuple[str, str], ...] = ()
    changed: datetime | None = None
    more: tuple[tuple[str, str], ...] = ()

    @property
    def digest(self) -> str:
        """Of the content, without `changed`."""
        whole = render(replace(self, changed=None))
        return hashlib.sha256(whole.encode()).hexdigest()[:32]

    @property
    def name(self) -> str:
        """The file's name, which depends on the id alone."""
        if _SAFE.match(self.id):
            return self.id + SUFFIX
        return f"x-{hashlib.sha256(self.id.encode()).hexdigest()[:24]}{SUFFIX}"


def shared_form(fact: Fact) -> FactFile:
    """The shared part of a bank's fact; times by the second."""
    state = "valid" if fact.state == "pending" else fact.state
    return FactFile(
        id=fact.id,
        text=_line(fact.text),
        kind=_line(fact.kind) or "fact",
        category=_line(fact.category) or None,
        state=state,
        superseded_by=_line(fact.superseded_by) or None,
        reason=_line(fact.reason) or None,
        said=_seconds(fact.timestamp),
        speaker=_line(fact.provenance.speaker) or None,
        tags=tuple(sorted(tag for raw in fact.tags if (tag := _line(raw)))),
        commit=fact.provenance.commit,
        files=tuple(sorted((_line(path), digest) for path, digest in fact.provenance.files)),
    )


def deleted_form(fact_id: str) -> FactFile:
    """What is left of a fact that was deleted for good: that it was."""
    return FactFile(id=fact_id, text="", state="deleted")


def render(shared: FactFile) -> str:
    """The file's text; the same content gives the same bytes."""
    fields: list[tuple[str, str | None]] = [
        ("id", shared.id),
        ("kind", shared.kind if shared.state != "deleted" else None),
        ("category", shared.category),
        ("state", shared.state),
        ("superseded_by", shared.superseded_by),
        ("reason", shared.reason),
        ("said", _iso(shared.said)),
        ("speaker", shared.speaker),
        *(("tag", tag) for tag in shared.tags),
        ("commit", shared.commit),
        *(("file", f"{digest} {path}") for path, digest in shared.files),
        *shared.more,
        ("changed", _iso(shared.changed)),
    ]
    lines = [_FENCE, *(f"{key}: {value}" for key, value in fields if value), _FENCE]
    return "\n".join([*lines, *([shared.text] if shared.text else []), ""])


def parse(text: str, *, stem: str) -> FactFile:
    """Read a file, also one that a person wrote: then the text alone is enough.

    Args:
        text: The file's text, without conflict markers.
        stem: Its name without suffix: the id, where the file does not say it.

    Raises:
        ValueError: What is wrong with it, for a person.
    """
    fields, body = _split(text)
    known: dict[str, str] = {}
    tags: list[str] = []
    files: dict[str, str] = {}
    more: list[tuple[str, str]] = []
    for key, value in fields:
        if key == "tag":
            tags.append(value)
        elif key == "file":
            digest, _, path = value.partition(" ")
            files[path] = digest
        elif key in _NAMES:
            known[key] = value
        else:
            more.append((key, value))
    if known.get("version", "1") != str(VERSION):
        raise ValueError(
            f"version {known['version']} is newer than this program reads: update hindsight-mem"
        )
    line = _line(body)
    state = known.get("state") or "valid"
    if state not in _STATES:
        raise ValueError(f"state {state!r} is none of {', '.join(_STATES)}")
    if not line and state != "deleted":
        raise ValueError("no text below the fields")
    said_id = known.get("id") or (stem if _IDENTITY.match(stem) else fact_id(line))
    return FactFile(
        id=said_id,
        text="" if state == "deleted" else line,
        kind=known.get("kind") or "fact",
        category=known.get("category"),
        state=cast("SharedState", state),
        superseded_by=known.get("superseded_by"),
        reason=known.get("reason"),
        said=_moment(known, "said"),
        speaker=known.get("speaker"),
        tags=tuple(sorted(set(tags))),
        commit=known.get("commit"),
        files=tuple(sorted((path, digest) for path, digest in files.items() if path)),
        changed=_moment(known, "changed"),
        more=tuple(more),
    )


_NAMES = {
    "id", "version", "kind", "category", "state", "superseded_by", "reason", "said", "speaker",
    "changed", "commit",
}  # fmt: skip


def _split(text: str) -> tuple[list[tuple[str, str]], str]:
    lines = text.removeprefix("\ufeff").splitlines()
    while lines and not lines[0].strip():
        lines.pop(0)
    if not lines or lines[0].strip() != _FENCE:
        return [], "\n".join(lines)
    fields: list[tuple[str, str]] = []
    for number, line in enumerate(lines[1:], 1):
        if line.strip() == _FENCE:
            return fields, "\n".join(lines[number + 1 :])
        found = _FIELD.match(line.rstrip())
        if found and (value := _line(found["value"])):
            fields.append((found["key"], value))
        elif line.strip() and not found:
            raise ValueError(f"line {number + 1} is no `key: value`")
    raise ValueError(f"the fields have no end: a line {_FENCE} is missing")


def _line(text: str | None) -> str:
    return _SPACE.sub(" ", text or "").strip()


def _seconds(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC).replace(microsecond=0) if moment else None


def _iso(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else None


def _moment(known: dict[str, str], key: str) -> datetime | None:
    value = known.get(key)
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{key} {value!r} is no ISO 8601 time") from None
