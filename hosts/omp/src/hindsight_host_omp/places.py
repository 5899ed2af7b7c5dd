"""Where omp keeps its configuration, its extensions and its plugins."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from hindsight_core.host import InstallRequest

OWN = "hindsight-mem"
CONFIGS = ("config.yml", "config.yaml")
LEGACY = "settings.json"


def agent_dir(env: Mapping[str, str]) -> Path:
    """The folder of omp's configuration; a profile has one of its own."""
    profile = env.get("OMP_PROFILE", env.get("PI_PROFILE", "")).strip()
    if profile and profile != "default":
        return _root(env) / "profiles" / profile / "agent"
    moved = env.get("PI_CODING_AGENT_DIR", "").strip()
    return Path(moved).expanduser() if moved else _root(env) / "agent"


def plugins_dir(env: Mapping[str, str]) -> Path:
    """Where ``omp plugin install`` puts packages."""
    return _root(env) / "plugins"


def config_dir(request: InstallRequest) -> Path:
    """The user's folder, or the project's."""
    return request.project / ".omp" if request.project else agent_dir(request.env)


def extension_dir(request: InstallRequest) -> Path:
    """Our own extension's folder.

    omp loads every folder in ``extensions``. A path in the setting of that name would not do: a
    project's list replaces the user's.
    """
    return config_dir(request) / "extensions" / OWN


def config_file(folder: Path) -> Path:
    """The file that omp reads in a folder, or would make there."""
    return next(
        (path for name in CONFIGS if (path := folder / name).is_file()), folder / CONFIGS[0]
    )


def detected(env: Mapping[str, str]) -> str | None:
    """What speaks for omp being on this machine."""
    folder = agent_dir(env)
    if folder.parts[-2:] == (".omp", "agent") and folder.is_dir():
        return str(folder)
    return shutil.which("omp", path=env.get("PATH"))


def _root(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or Path.home()) / ".omp"
