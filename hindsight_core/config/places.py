"""Where configuration files may stand: ours, and each host's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hindsight_core.config.legacy import ACTIVE_MEMORY, HINDSIGHT_FILE, OWN_FILE, Old
from hindsight_core.config.paths import Paths, expand, user_home


@dataclass(frozen=True, slots=True)
class Source:
    """One place.

    Attributes:
        kind: Kind of layer it makes.
        files: The file in its forms; the first that exists counts.
        old: Keys of older plugins that may stand in it.
        own: A file of ours, where a key that is ours and theirs is ours.
        hindsight: A file of one of the Hindsight plugins: its user has a server.
        host: The program it belongs to; None for ours.
        profile: What who has such a file is used to, where no profile is named.
    """

    kind: str
    files: tuple[Path, ...]
    old: tuple[Old, ...]
    own: bool = False
    hindsight: bool = False
    host: str | None = None
    profile: str | None = None

    def found(self) -> tuple[Path, ...]:
        """The forms that exist; a folder of such a name too: reading it says what is wrong."""
        return tuple(path for path in self.files if path.is_file() or path.is_dir())


def user_sources(paths: Paths, env: Mapping[str, str], host: str | None) -> Iterator[Source]:
    """The user's own files, weakest first."""
    for name in ("pi", "omp"):
        folder = user_home(env) / f".{name}" / "agent"
        # Both programs read this variable for their folder; it can mean only the one that runs.
        moved = env.get("PI_CODING_AGENT_DIR", "").strip()
        if moved and name == (host or "pi"):
            folder = expand(moved, env=env)
        yield from _host_sources("host-global", name, folder)
    own = (paths.config, paths.config.with_suffix(".json"))
    yield Source("own-global", own, OWN_FILE, own=True)


def project_sources(folder: Path) -> Iterator[Source]:
    """A project's files, weakest first."""
    yield from _host_sources("project", "pi", folder / ".pi")
    yield from _host_sources("project", "omp", folder / ".omp")
    own = folder / ".hindsight"
    yield Source("project", (own / "config.toml", own / "config.json"), OWN_FILE, own=True)


def _host_sources(kind: str, host: str, folder: Path) -> Iterator[Source]:
    if host == "pi":
        yield Source(
            kind,
            (folder / "active-memory.json",),
            ACTIVE_MEMORY,
            host=host,
            profile="active-memory",
        )
    forms = (folder / "hindsight.json", folder / "hindsight.jsonc")
    yield Source(kind, forms, HINDSIGHT_FILE, hindsight=True, host=host)


def wanted(source: Source, host: str | None) -> bool:
    """Whether a host's file counts: in that host, and on the command line, which serves all."""
    return source.host is None or host is None or source.host == host
