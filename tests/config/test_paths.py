"""The home folder."""

from __future__ import annotations

from pathlib import Path

from hindsight_core.config.paths import Paths


def test_the_variable_counts(tmp_path):
    odd = tmp_path / ("it's a long name" * 12)
    paths = Paths.from_env({"HINDSIGHT_MEM_HOME": str(odd), "HOME": "/home/ann"})
    assert paths.home == odd
    assert paths.config == odd / "config.toml"
    assert paths.queue.parent == paths.state.parent == odd


def test_a_tilde_is_the_home():
    paths = Paths.from_env({"HINDSIGHT_MEM_HOME": "~/mem", "HOME": "/home/ann"})
    assert paths.home == Path("/home/ann/mem")


def test_the_platforms_folder(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    plain = Paths.from_env({"HOME": "/home/ann"})
    assert plain.home == Path("/home/ann/.local/share/hindsight-mem")
    moved = Paths.from_env({"HOME": "/home/ann", "XDG_DATA_HOME": "/data"})
    assert moved.home == Path("/data/hindsight-mem")
