from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hindsight_core.errors import ConfigError, PluginError
from hindsight_core.plugins import installed_hosts, load_host


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def add(name: str, code: str, *, distribution: str | None = None) -> None:
        dist = distribution or f"hindsight-host-{name}"
        module = dist.replace("-", "_") + "_sample"
        (site / f"{module}.py").write_text(code)
        info = site / f"{dist.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[hindsight.hosts]\n{name} = {module}:adapter\n")

    yield add
    for name in [name for name in sys.modules if name.endswith("_sample")]:
        del sys.modules[name]


def test_only_the_host_asked_for_is_imported(host):
    host("quiet", "adapter = 'the quiet one'")
    host("loud", "raise RuntimeError('imported')")
    assert load_host("quiet") == "the quiet one"
    assert {"quiet", "loud"} <= set(installed_hosts())


def test_a_host_that_is_not_installed(host):
    host("quiet", "adapter = 1")
    with pytest.raises(ConfigError, match=r"no host adapter named 'nano'; installed: .*quiet"):
        load_host("nano")


def test_a_host_that_cannot_be_imported_names_its_distribution(host):
    host("loud", "raise RuntimeError('imported')")
    with pytest.raises(PluginError, match=r"hindsight-host-loud 1\.0.*imported") as caught:
        load_host("loud")
    assert caught.value.distribution == "hindsight-host-loud"


def test_two_distributions_of_one_host_are_both_named(host):
    host("quiet", "adapter = 1")
    host("quiet", "adapter = 2", distribution="quiet-fork")
    with pytest.raises(PluginError, match="hindsight-host-quiet and quiet-fork"):
        load_host("quiet")
