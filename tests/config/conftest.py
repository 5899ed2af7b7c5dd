"""A user's home and a project folder, and the configuration that they give."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.config.layers import Loaded, load


@dataclass
class World:
    """Files of a user and of a project; `load` reads them."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.root / "user"

    @property
    def memory(self) -> Path:
        return self.root / "memory"

    @property
    def project(self) -> Path:
        return self.root / "Shop Front"

    def write(self, path: Path, content: str | Mapping[str, Any]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return path

    def own(self, content: str) -> Path:
        return self.write(self.memory / "config.toml", content)

    def pi_global(self, content: str | Mapping[str, Any]) -> Path:
        return self.write(self.home / ".pi/agent/hindsight.json", content)

    def pi_project(self, content: str | Mapping[str, Any]) -> Path:
        return self.write(self.project / ".pi/hindsight.json", content)

    def own_project(self, content: str) -> Path:
        return self.write(self.project / ".hindsight/config.toml", content)

    def load(self, **kwargs: Any) -> Loaded:
        kwargs.setdefault("trusted", True)
        cwd = kwargs.pop("cwd", self.project)
        env = {"HOME": str(self.home), "HINDSIGHT_MEM_HOME": str(self.memory), **self.env}
        return load(cwd=cwd, env=env, **kwargs)


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.home.mkdir()
    made.project.mkdir()
    return made


def _git(folder: Path, *arguments: str) -> None:
    import subprocess

    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.fixture
def git() -> Any:
    """Run git in a folder."""
    return _git
