"""Writes a new plugin package: texts of ``scaffolds/`` with the names filled in."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from hindsight_core.errors import ConfigError

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_MARK = re.compile(r"@([A-Z]+)@")
_SUFFIX = ".txt"
_PREFIX = "hindsight-mem"


@dataclass(frozen=True, slots=True)
class Scaffold:
    """A kind of plugin that can be begun.

    Attributes:
        kind: As on the command line, such as ``embedder``.
        what: What it is.
        use: The command with which its user turns it on.
    """

    kind: str
    what: str
    use: str


def scaffolds() -> dict[str, Scaffold]:
    """Every kind, in the order of ``scaffolds/kinds.toml``."""
    listed = tomllib.loads((_root() / "kinds.toml").read_text(encoding="utf-8"))
    return {kind: Scaffold(kind, about["what"], about["use"]) for kind, about in listed.items()}


def distribution_name(kind: str, name: str) -> str:
    """``hindsight-mem-<kind>-<name>``.

    Raises:
        ConfigError: The name cannot be part of one.
    """
    if not _NAME.fullmatch(name) or len(name) > 40:
        raise ConfigError(
            f"{name!r} is no plugin name: use lower-case letters, digits and single dashes, "
            f"beginning with a letter, at most 40 characters"
        )
    return f"{_PREFIX}-{kind}-{name}"


def write_plugin(kind: str, name: str, *, parent: Path) -> list[Path]:
    """Write a package that can be tested, installed and published as it is.

    Args:
        kind: One of `scaffolds`.
        name: What users will write in their configuration.
        parent: The folder in which the package's own folder is made.

    Returns:
        The files written; the first one's parent is the package's folder.

    Raises:
        ConfigError: No such kind, no such name, or the folder holds something already.
        OSError: It cannot be written.
    """
    known = scaffolds()
    if kind not in known:
        raise ConfigError(f"there is no kind of plugin {kind!r}; kinds: {', '.join(known)}")
    distribution = distribution_name(kind, name)
    folder = parent / distribution
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} exists and is not empty; choose another name or --into")
    values = _values(known[kind], name, distribution)
    written = []
    for place, text in sorted(_texts(kind, values["PACKAGE"])):
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_filled(text, values), encoding="utf-8")
        written.append(path)
    return sorted(written, key=lambda path: (len(path.parts), path))


def _values(scaffold: Scaffold, name: str, distribution: str) -> dict[str, str]:
    from hindsight_core import __version__

    values = {
        "CLASS": "".join(part.capitalize() for part in name.split("-")),
        "CORE": ".".join(__version__.split(".")[:2]),
        "DIST": distribution,
        "ENTRY": distribution.removeprefix(f"{_PREFIX}-"),
        "NAME": name,
        "PACKAGE": distribution.replace("-", "_"),
        "WHAT": scaffold.what,
    }
    return {**values, "USE": _filled(scaffold.use, values)}


def _texts(kind: str, package: str) -> Iterator[tuple[str, str]]:
    """Pairs of a file's place in the package and its text."""
    for folder in (_root() / "common", _root() / kind):
        for path in folder.rglob(f"*{_SUFFIX}"):
            place = path.relative_to(folder).as_posix().removesuffix(_SUFFIX)
            place = re.sub(r"^package/", f"src/{package}/", place)
            yield (".gitignore" if place == "gitignore" else place), path.read_text("utf-8")


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _MARK.sub(lambda mark: values[mark[1]], text)


def _root() -> Path:
    return Path(str(files("hindsight_core"))) / "scaffolds"
