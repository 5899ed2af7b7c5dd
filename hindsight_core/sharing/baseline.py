"""What a checkout and a bank had in common when they last met: the third part of three-way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hindsight_core.config.files import write_text
from hindsight_core.config.slugs import digest, slug


@dataclass(frozen=True, slots=True)
class Met:
    """One fact as it was.

    Both forms are kept: a bank may hold less than a file tells, as a server with its own kinds.

    Attributes:
        digest: Of the file's content.
        held: Of the bank's form of it.
        file: Name of the file.
        changed: What the file said of its last change, in seconds since 1970; 0 for nothing.
    """

    digest: str
    held: str
    file: str
    changed: float = 0.0


@dataclass
class Baseline:
    """All of them, in one file of ours.

    Attributes:
        path: The file.
        facts: Fact id to what it was.
        signature: Of the folder when all of it had been taken over; empty while something waits.
        identity: Of the bank's file, where it has one: another bank has met nobody yet.
    """

    path: Path
    facts: dict[str, Met] = field(default_factory=dict)
    signature: str = ""
    identity: str = ""

    @classmethod
    def load(cls, home: Path, *, bank: str, checkout: Path) -> Baseline:
        """Read it; one that is not there or broken is empty: then both sides are compared anew."""
        key = digest(f"{bank}\0{checkout}", length=16)
        path = home / "shared" / f"{slug(bank)}-{key}.json"
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            facts = {str(key): _met(value) for key, value in data["facts"].items()}
            signature, identity = data.get("signature") or "", data.get("identity") or ""
            return cls(path, facts, str(signature), str(identity))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return cls(path)

    def met_by(self, identity: str) -> None:
        """Forget everything when another bank has taken the place of the one that was met."""
        if self.identity and identity != self.identity:
            self.facts, self.signature = {}, ""
        self.identity = identity

    def save(self) -> None:
        """Write it.

        Raises:
            StorageError: The home cannot be written.
        """
        facts = {
            key: [met.digest, met.held, met.file, met.changed]
            for key, met in sorted(self.facts.items())
        }
        data: Mapping[str, Any] = {
            "version": 1,
            "signature": self.signature,
            "identity": self.identity,
            "facts": facts,
        }
        write_text(self.path, json.dumps(data, ensure_ascii=False, indent=0) + "\n")


def _met(value: Any) -> Met:  # noqa: ANN401 - JSON
    found, held, file, changed = value
    return Met(str(found), str(held), str(file), float(changed))
