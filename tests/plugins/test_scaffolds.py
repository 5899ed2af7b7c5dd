"""``hindsight-mem plugins new``: every kind installs as it is, and passes its own tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hindsight_core.cli.entry import run as command
from hindsight_core.errors import ConfigError
from hindsight_core.plugins.scaffold import distribution_name, scaffolds, write_plugin

KINDS = sorted(scaffolds())
PYTHON = (sys.executable, "-m")


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """One package of each kind, and the folder in which all of them are installed."""
    parent = tmp_path_factory.mktemp("packages")
    site = tmp_path_factory.mktemp("site")
    folders = [write_plugin(kind, "my-toy", parent=parent)[0].parent for kind in KINDS]
    pip = [*PYTHON, "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    pip += ["--disable-pip-version-check", "--target", str(site)]
    subprocess.run([*pip, *map(str, folders)], check=True, timeout=55)
    return parent, site


def in_site(site: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PYTHON, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_plugin_passes_its_own_tests_when_it_is_installed(packages, kit, kind):
    parent, site = packages
    folder = parent / distribution_name(kind, "my-toy")
    done = in_site(site, "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", *kit, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout and "skipped" not in done.stdout


def test_all_of_them_load_beside_one_another(packages):
    _, site = packages
    done = in_site(site, "hindsight_core", "plugins", "--json", cwd=site)
    seen = json.loads(done.stdout)
    assert seen["problems"] == []
    loaded = {row["distribution"] for row in seen["plugins"] if row["status"] == "loaded"}
    assert {distribution_name(kind, "my-toy") for kind in KINDS} <= loaded


def test_a_command_can_be_run(packages, tmp_path):
    _, site = packages
    run = in_site(site, "hindsight_core", "my-toy", "--bank", "shop", "--json", cwd=tmp_path)
    assert run.stdout == '{"facts": 0}\n'
    assert run.stderr.startswith("hindsight-mem: there is no bank shop yet")
    assert run.stderr.count("\n") == 1


def test_the_command_line_writes_a_package_and_says_what_comes_next(tmp_path, capsys):
    assert command(["plugins", "new", "filter", "quiet", "--into", str(tmp_path)]) == 0
    folder = tmp_path / "hindsight-mem-filter-quiet"
    assert f"plugins install {folder}" in capsys.readouterr().out.replace("\n", " ")
    assert (folder / "src/hindsight_mem_filter_quiet/__init__.py").is_file()
    left = [path for path in folder.rglob("*") if path.is_file() and "@NAME" in path.read_text()]
    assert left == []
    assert command(["plugins", "new", "filter", "quiet", "--into", str(tmp_path)]) == 2
    assert "exists and is not empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("gizmo", "toy", "no kind of plugin 'gizmo'; kinds: embedder, model"),
        ("filter", "Toy", "lower-case letters"),
        ("filter", "a--b", "single dashes"),
        ("filter", "../x", "no plugin name"),
        ("filter", "{{ 7 }}", "no plugin name"),
        ("filter", "x" * 41, "at most 40"),
        ("filter", "", "no plugin name"),
    ],
)
def test_a_wrong_kind_or_name_writes_nothing(tmp_path, kind, name, says):
    with pytest.raises(ConfigError, match=says):
        write_plugin(kind, name, parent=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "name"), [("bank", "sqlite"), ("embedder", "openai"), ("command", "recall")]
)
def test_the_name_of_a_built_in_is_refused(tmp_path, capsys, kind, name):
    assert command(["plugins", "new", kind, name, "--into", str(tmp_path)]) == 2
    assert f"built-in {kind}" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
