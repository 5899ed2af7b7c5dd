"""Which project owns which automatic bank name, and which folders belong to it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_core.config.slugs import digest, remote_name, slug

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hindsight_core.config.project import Place


@dataclass(frozen=True, slots=True)
class Known:
    """What was written down about a folder when it was there."""

    root: Path
    name: str
    bank: str


class Claims:
    """One small file a name and one a folder, created once and never rewritten.

    A name belongs to the first project that asks; a link made in one step decides between two
    processes, so no lock is held. The name that a project was given stays its own, whatever later
    versions would call it.

    Args:
        folder: `Paths.projects`; made on the first claim.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def bank(self, place: Place, *, claim: bool) -> str:
        """The project's automatic bank name (pi/C-11, pi/D-21).

        Args:
            place: A place with a root.
            claim: Write down that the name is taken; otherwise only look.
        """
        owner = _owner(place)
        known = self.folder(place.root or place.cwd)
        if known and known.root == place.root:
            return known.bank
        base = slug(place.name)
        name = base if self._take(base, owner, place, claim=claim) else f"{base}-{digest(owner)}"
        if claim:
            self._remember(place, name)
        return name

    def folder(self, folder: Path) -> Known | None:
        """What is known about a folder or the nearest one above it."""
        if not self._folder.is_dir():
            return None
        for path in (folder, *folder.parents):
            record = self._read(f"at-{digest(str(path), length=20)}.json")
            if record:
                return Known(Path(record["root"]), record["name"], record["bank"])
        return None

    def _take(self, name: str, owner: str, place: Place, *, claim: bool) -> bool:
        file = f"name-{digest(name, length=20)}.json"
        record = self._read(file)
        if record is None and claim:
            self._write(file, {"bank": name, "owner": owner, "root": str(place.root)})
            record = self._read(file)
        return record is None or owner == record["owner"] or str(place.root) == record["root"]

    def _remember(self, place: Place, bank: str) -> None:
        record = {"root": str(place.root), "name": place.name, "bank": bank}
        for folder in {place.root, place.checkout} - {None}:
            self._write(f"at-{digest(str(folder), length=20)}.json", record)

    def _read(self, file: str) -> Mapping[str, str] | None:
        try:
            record = json.loads((self._folder / file).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        whole = isinstance(record, dict) and all(isinstance(v, str) for v in record.values())
        return record if whole and {"bank", "root"} <= record.keys() else None

    def _write(self, file: str, record: Mapping[str, str]) -> None:
        from hindsight_core.folders import private_folder

        # A home that cannot be written is no reason to fail: the same name is found next time.
        with suppress(OSError):
            private_folder(self._folder)
            target, draft = self._folder / file, self._folder / f".{file}.{os.getpid()}"
            if target.exists():
                return
            draft.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")
            draft.chmod(0o600)
            try:
                os.link(draft, target)
            finally:
                draft.unlink(missing_ok=True)


def _owner(place: Place) -> str:
    return remote_name(place.remote) if place.remote else str(place.root)
