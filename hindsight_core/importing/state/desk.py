"""What every part of taking over a plugin's state works with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.config.project import locate
from hindsight_core.importing.filing import Filing, Part, Place
from hindsight_core.transcript.past import PastSession

if TYPE_CHECKING:
    from hindsight_core.importing.runtimes import Runtimes
    from hindsight_core.runtime import Runtime

FOLDERS = (".pi", ".omp")
MOST_BYTES = 256 * 1024 * 1024


@dataclass(slots=True)
class Tally:
    """What became of one kind of state.

    Attributes:
        name: For people.
        adopted: Taken over now.
        known: Taken over before, or dealt with by ourselves.
        left: Not taken over, with the reason; each is told.
    """

    name: str
    adopted: int = 0
    known: int = 0
    left: list[str] = field(default_factory=list)


@dataclass
class Desk:
    """The sessions and folders of one run.

    Attributes:
        sessions: Sessions of pi and its kin, whose plugins these were.
        folders: The folders in which they ran.
        filing: Finds the bank of a folder.
        runtimes: Opens it.
        env: The environment.
        dry_run: Count only.
    """

    sessions: Sequence[PastSession]
    folders: Sequence[Path]
    filing: Filing
    runtimes: Runtimes
    env: Mapping[str, str]
    dry_run: bool = False

    def place(self, folder: Path, *, host: str = "pi") -> Place:
        """Where what was kept in a folder goes."""
        return self.filing.folder(str(folder), host=host)

    def part(self, session: PastSession) -> Part:
        """Where a session goes; sessions of these hosts have no agents of their own."""
        return self.filing.parts(session)[0]

    def runtime(self, place: Place) -> Runtime:
        """The opened configuration of a place with a bank."""
        return self.runtimes.of(place)

    def kept(self, name: str) -> list[tuple[Path, Path]]:
        """Pairs of a folder and a file of that name in the plugin's own folder there."""
        found: dict[Path, Path] = {}
        for folder in self.folders:
            root = locate(folder, self.env).root
            for base in dict.fromkeys([folder, root] if root else [folder]):
                for kind in FOLDERS:
                    path = base / kind / "hindsight" / name
                    if path.exists():
                        found.setdefault(path, base)
        return [(base, path) for path, base in found.items()]

    async def once(self, runtime: Runtime, bank: str, kind: str, content: str) -> bool:
        """Whether something is taken over for the first time; notes that it is now.

        Call `note` after it is done: what is broken off in between is done again.
        """
        key = _key(content)
        return await runtime.sessions.cursor(bank, f"adopted:{kind}:{key}") is None

    async def note(self, runtime: Runtime, bank: str, kind: str, content: str) -> None:
        """It is taken over."""
        key = _key(content)
        await runtime.sessions.set_cursor(bank, f"adopted:{kind}:{key}", key)


def read_object(path: Path) -> Mapping[str, Any]:
    """A JSON object of a file.

    Raises:
        ValueError: Why it cannot be read, for people.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"{path} is larger than {MOST_BYTES // 1024**2} MB")
        value = json.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {error.lineno}: no JSON ({error.msg})") from error
    if not isinstance(value, dict):
        raise ValueError(f"{path} holds no JSON object")
    return value


def _key(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:32]
