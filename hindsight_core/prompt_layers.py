"""Where a template comes from: the search path, and the prompts written into the configuration.

Order, the first wins: the agent's folder, the trusted project's, prompts of the configuration
(``[prompts]``), the user's folder, those of plugins, the packaged one. ``core/*`` is packaged only:
it holds the wrapper that tells recalled text from instructions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

Origin = Literal["agent", "project", "config", "user", "plugin", "packaged"]
SUFFIX = ".j2"
MAX_BYTES = 256 * 1024


class TemplateUnreadable(Exception):
    """A template file that exists and cannot be used; ``path`` says which."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(why)
        self.path = path


@dataclass(frozen=True, slots=True)
class TemplateDir:
    """A folder of the search path."""

    origin: Origin
    path: Path


@dataclass(frozen=True, slots=True)
class Source:
    """One template found.

    Attributes:
        name: Such as ``recall/judge.j2``.
        origin: The layer it was found in.
        path: The file, or ``prompts.<stage>`` for one written into the configuration.
        stamp: Changes when its content does.
    """

    name: str
    origin: Origin
    path: str
    stamp: tuple[int, ...]
    inline: str | None = None

    def read(self) -> str:
        """Its text; raises `TemplateUnreadable`."""
        if self.inline is not None:
            return self.inline
        try:
            raw = Path(self.path).read_bytes()
            if len(raw) > MAX_BYTES:
                raise TemplateUnreadable(self.path, f"larger than {MAX_BYTES // 1024} KiB")
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise TemplateUnreadable(self.path, f"not UTF-8 at byte {error.start}") from error
        except OSError as error:
            raise TemplateUnreadable(self.path, error.strerror or str(error)) from error


def packaged_root() -> Path:
    """Folder of the shipped templates: inside the package in a wheel, beside it in a checkout."""
    package = Path(str(files("hindsight_core")))
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


def stage_of(name: str) -> str:
    """``recall/judge.system.j2`` and ``recall/judge.j2`` are of stage ``recall/judge``."""
    return name.removesuffix(SUFFIX).removesuffix(".system")


class SearchPath:
    """Finds templates.

    Args:
        dirs: Folders, the first wins.
        inline: Stage (or ``<stage>.system``) to template text.
    """

    def __init__(
        self, dirs: Sequence[TemplateDir] = (), *, inline: Mapping[str, str] | None = None
    ) -> None:
        self.packaged = TemplateDir("packaged", packaged_root())
        above: list[TemplateDir] = [d for d in dirs if d.origin in ("agent", "project")]
        below = [d for d in dirs if d.origin not in ("agent", "project")]
        self.dirs = (*above, *below)
        self._above, self._below = above, below
        self.inline = {f"{key}{SUFFIX}": (key, text) for key, text in (inline or {}).items()}

    def find(self, name: str) -> Source | None:
        """The template that wins, or None."""
        return next(self.all(name), None)

    def all(self, name: str) -> Iterator[Source]:
        """Every template of that name, the one that wins first."""
        if _unsafe(name):
            return
        if not name.startswith("core/"):
            yield from self._in(self._above, name)
            if name in self.inline:
                key, text = self.inline[name]
                yield Source(name, "config", f"prompts.{key}", (hash(text),), text)
            yield from self._in(self._below, name)
        yield from self._in((self.packaged,), name)

    def find_packaged(self, name: str) -> Source | None:
        """The shipped template, or None."""
        return None if _unsafe(name) else next(self._in((self.packaged,), name), None)

    def overrides(self) -> Iterator[Source]:
        """Every template that is not packaged, in every layer, used or not."""
        for name, (key, text) in self.inline.items():
            yield Source(name, "config", f"prompts.{key}", (hash(text),), text)
        for folder in self.dirs:
            for path in _files(folder.path):
                yield from self._in((folder,), path.relative_to(folder.path).as_posix())

    def packaged_names(self) -> list[str]:
        """Names of all shipped templates."""
        root = self.packaged.path
        return [path.relative_to(root).as_posix() for path in _files(root)]

    def _in(self, dirs: Iterable[TemplateDir], name: str) -> Iterator[Source]:
        for folder in dirs:
            path = folder.path / name
            try:
                stat = path.stat()
            except (OSError, ValueError):
                continue
            if path.is_file():
                stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
                yield Source(name, folder.origin, str(path), stamp)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file())


def _unsafe(name: str) -> bool:
    parts = name.split("/")
    return "\\" in name or "\0" in name or any(part in ("", ".", "..") for part in parts)
