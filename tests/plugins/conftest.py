"""Sample distributions, laid out as an installer would, and hooks made of them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from hindsight_core.plugins import Hooks
from hindsight_core.plugins.plugin import Plugin

DISTS = Path(__file__).parent / "dists"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Install sample distributions by their folder name, where this process finds them."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    before = set(sys.modules)

    def run(*folders: str) -> Path:
        for folder in folders:
            _lay_out(DISTS / folder, site)
        return site

    yield run
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(site)):
            del sys.modules[name]


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs of an environment of its own, which sees the packages of this one too."""
    folder = tmp_path_factory.mktemp("environment")
    venv = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(venv, check=True, timeout=50)
    [site] = folder.glob("lib/python*/site-packages")
    paths = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    lines = [f"import site; site.addsitedir({path!r})\n" for path in paths]
    (site / "shared.pth").write_text("".join(lines))
    program = folder / "bin" / "hindsight-mem"
    program.write_text(f'#!/bin/sh\nexec {folder}/bin/python -m hindsight_core "$@"\n')
    program.chmod(0o755)
    return folder / "bin"


@pytest.fixture(scope="session")
def kit() -> tuple[str, ...]:
    """Options that give a pytest process our plugin, where it is not found by itself."""
    found = entry_points(group="pytest11", name="hindsight_core")
    return () if found else ("-p", "hindsight_core.testing.pytest_plugin")


@pytest.fixture
def third_party() -> Callable[..., Plugin]:
    """Add an object to hooks as if a distribution had brought it."""

    def add(hooks: Hooks, implementation: object, *, name: str = "toy") -> Plugin:
        plugin = Plugin(name, f"hindsight-{name}", "1.2.0", object=implementation)
        hooks.add(plugin)
        return plugin

    return add


def _lay_out(source: Path, site: Path) -> None:
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    for package in source.iterdir():
        if package.is_dir():
            shutil.copytree(package, site / package.name)
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
