from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from hindsight_core.cli.entry import run


class Said(NamedTuple):
    """What a command gave: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def data(self):
        return json.loads(self.out)


@pytest.fixture
def mem(capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run ``hindsight-mem`` in a project folder of its own."""
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)

    def call(*arguments: object) -> Said:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Said(code, *capsys.readouterr())

    return call
