"""Which project a folder belongs to; git's files are read, git is never started."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hindsight_core.config.paths import user_home
from hindsight_core.config.slugs import remote_slug, slug

_REMOTE = re.compile(r'^\s*\[remote "origin"\]\s*$(?P<body>(?:\n(?!\s*\[).*)*)', re.M)
_URL = re.compile(r"^\s*url\s*=\s*(?P<url>.+?)\s*$", re.M)
_SMALL = 200_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session runs.

    Attributes:
        cwd: The folder that was asked about.
        root: The project: the main worktree, shared by its linked worktrees; None for no project.
        checkout: The worktree that holds `cwd`; project files are read from here.
        name: The project's folder name, which the automatic bank name is made of.
        remote: Address of the remote ``origin``, if any.
        reason: Why there is no project, or how it was found when that needs telling.
        unsure: Git's files could not be followed; nothing new may be named after this place.
    """

    cwd: Path
    root: Path | None
    checkout: Path | None
    name: str
    remote: str | None = None
    reason: str | None = None
    unsure: bool = False


def locate(cwd: Path, env: Mapping[str, str]) -> Place:
    """Find the project of a folder, which need not exist any more (br/BR-23)."""
    # The logical path: a folder that was deleted has no other, and a link keeps its target's name.
    here = Path(os.path.realpath(cwd))
    home = Path(os.path.realpath(user_home(env)))
    for folder in (here, *here.parents):
        if _never(folder, home, env):
            break
        marker = folder / ".git"
        if marker.is_dir() and (marker / "HEAD").exists():
            return _main(here, folder, folder, marker)
        if marker.is_file():
            return _linked(here, folder, marker)
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
            return _main(here, _named_root(folder), None, folder)
    why = _never(here, home, env)
    if why:
        return Place(here, None, None, here.name, reason=f"{here} is no project: {why}")
    return Place(here, here, here, here.name)


def project_id(place: Place, *, given: str | None, strategy: str) -> str:
    """Id of a project inside a shared bank (s1/S-ID-3).

    Args:
        place: Where the session runs.
        given: `scope.project_id`; it wins.
        strategy: `scope.project_id_strategy`.
    """
    if given:
        return slug(given, empty="repo")
    if strategy == "remote" and place.remote:
        return remote_slug(place.remote)
    return slug(place.name, empty="repo")


def _never(folder: Path, home: Path, env: Mapping[str, str]) -> str | None:
    if folder == Path(folder.anchor):
        return "it is the root of the file system"
    if folder == home or folder in home.parents:
        return "it is the home folder" if folder == home else "the home folder is inside it"
    if folder in _temporary(env):
        return "it is a folder for temporary files"
    return None


def _temporary(env: Mapping[str, str]) -> set[Path]:
    names = {"/tmp", "/var/tmp", "/private/tmp", tempfile.gettempdir()}  # noqa: S108
    names |= {env[name] for name in ("TMPDIR", "TMP", "TEMP") if env.get(name, "").strip()}
    return {Path(os.path.realpath(name)) for name in names}


def _main(here: Path, root: Path, checkout: Path | None, common: Path) -> Place:
    return Place(here, root, checkout or here, root.name, remote=_remote(common))


def _linked(here: Path, folder: Path, marker: Path) -> Place:
    """A worktree or a submodule, whose ``.git`` is a file that names the real folder."""
    text = _read(marker)
    if text is None or not text.startswith("gitdir:"):
        return _lost(here, folder, f"{marker} cannot be followed")
    git_dir = Path(os.path.realpath(folder / text.removeprefix("gitdir:").strip()))
    if not git_dir.is_dir():
        return _lost(here, folder, f"{marker} names {git_dir}, which is gone")
    shared = _read(git_dir / "commondir")
    if shared is None:  # a submodule, or hub/.git that names hub/.bare
        return _main(here, folder, folder, git_dir)
    common = Path(os.path.realpath(git_dir / shared.strip()))
    if not common.is_dir():
        return _lost(here, folder, f"{git_dir} names {common}, which is gone")
    return _main(here, _named_root(common), folder, common)


def _named_root(common: Path) -> Path:
    # hub/.git and hub/.bare stand for hub; hub.git stands for itself.
    if common.name.startswith("."):
        return common.parent
    return common.with_name(common.name.removesuffix(".git"))


def _lost(here: Path, folder: Path, why: str) -> Place:
    return Place(here, folder, folder, folder.name, reason=why, unsure=True)


def _remote(common: Path) -> str | None:
    text = _read(common / "config")
    section = _REMOTE.search(text) if text else None
    url = _URL.search(section["body"]) if section else None
    return url["url"].strip('"') if url else None


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            return stream.read(_SMALL).decode("utf-8", "replace")
    except OSError:
        return None
