"""Where everything of ours lives on disk."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Paths:
    """The home folder and the places in it.

    Attributes:
        home: `HINDSIGHT_MEM_HOME`, else the platform's user data folder.
    """

    home: Path

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> Paths:
        """The places that this environment means; nothing is created."""
        env = os.environ if env is None else env
        given = env.get("HINDSIGHT_MEM_HOME", "").strip()
        if given:
            return cls(expand(given, env=env))
        if env is os.environ or "HOME" not in env:
            import platformdirs

            return cls(Path(platformdirs.user_data_dir("hindsight-mem", appauthor=False)))
        return cls(_data_dir(env) / "hindsight-mem")

    @property
    def banks(self) -> Path:
        """Folder of the embedded banks, one file each."""
        return self.home / "banks"

    @property
    def queue(self) -> Path:
        """The durable database: write queue, journal, dead letters."""
        return self.home / "queue.db"

    @property
    def state(self) -> Path:
        """The rebuildable database: cursors, shown facts, receipts."""
        return self.home / "state.db"

    @property
    def logs(self) -> Path:
        """Folder of logs."""
        return self.home / "logs"

    @property
    def templates(self) -> Path:
        """The user's own templates."""
        return self.home / "templates"

    @property
    def agents(self) -> Path:
        """Folder with one folder an agent."""
        return self.home / "agents"

    @property
    def shims(self) -> Path:
        """What hosts load, refreshed with the program."""
        return self.home / "shims"

    @property
    def config(self) -> Path:
        """The user's configuration file, in the form it is written in."""
        return self.home / "config.toml"

    @property
    def projects(self) -> Path:
        """Which project owns which automatic bank name."""
        return self.home / "projects"

    @property
    def trust(self) -> Path:
        """Which projects may configure us."""
        return self.home / "trust.json"


def user_home(env: Mapping[str, str]) -> Path:
    """The user's home folder as this environment says (pi/V-07)."""
    for name in ("HOME", "USERPROFILE"):
        if env.get(name, "").strip():
            return Path(env[name])
    return Path.home()


def expand(text: str, *, env: Mapping[str, str]) -> Path:
    """A path from a setting: `~` is the user's home, the rest as written, made absolute."""
    if text == "~" or text.startswith(("~/", "~\\")):
        return user_home(env) / text[2:]
    return Path(text).absolute()


def _data_dir(env: Mapping[str, str]) -> Path:
    # platformdirs reads the process environment only; this is its rule for a given one.
    import sys

    if sys.platform == "darwin":
        return user_home(env) / "Library" / "Application Support"
    given = env.get("XDG_DATA_HOME", "").strip()
    return Path(given) if given else user_home(env) / ".local" / "share"
