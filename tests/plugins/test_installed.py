"""The sample plugin, really built and installed, as a user's environment has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

DISTS = Path(__file__).parent / "dists"
PLUGINS = entry_points(group="hindsight")
PROBE = """
import json, sys
from hindsight_core.plugins import load_hooks
hooks = load_hooks()
from hindsight_core.services import Services
embedder = hooks.embedders.require("toy").create(None, Services())
print(json.dumps({
    "problems": hooks.problems,
    "plugins": {p.distribution: [p.status, p.version] for p in hooks.plugins},
    "templates": [path.joinpath("bank/retain_mission.j2").is_file()
                  for path in hooks.template_dirs(None)],
    "vectors": len(embedder.embed(["one", "two"], kind="document")),
    "heavy": sorted({"httpx", "jinja2", "numpy", "rich"} & set(sys.modules)),
}))
"""

MAIN = "from hindsight_core.cli.entry import main; main()"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    if any(point.dist and point.dist.name == "hindsight-toy" for point in PLUGINS):
        return target  # they are in this environment already
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--disable-pip-version-check", "--target", str(target)]
    subprocess.run([*command, str(DISTS / "good"), str(DISTS / "broken")], check=True, timeout=50)
    return target


def run(site: Path, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": str(site), **env},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def test_an_installed_plugin_works_beside_a_broken_one(site):
    result = run(site, "-c", PROBE)
    assert result.returncode == 0, result.stderr
    seen = json.loads(result.stdout)
    assert seen["plugins"] == {
        "hindsight-broken": ["broken", "1.2.0"],
        "hindsight-toy": ["loaded", "1.2.0"],
    }
    assert len(seen["problems"]) == 1 and "hindsight-broken" in seen["problems"][0]
    assert seen["templates"] == [True]
    assert seen["vectors"] == 2
    assert seen["heavy"] == []


def test_the_command_line_shows_what_is_installed_and_broken(site):
    result = run(site, "-c", MAIN, "plugins", "--json")
    assert result.returncode == 0, result.stderr
    shown = {row["distribution"]: row for row in json.loads(result.stdout)["plugins"]}
    assert shown["hindsight-toy"]["status"] == "loaded"
    assert "hindsight_filter_facts" in shown["hindsight-toy"]["hooks"]
    assert "embedders: toy" in shown["hindsight-toy"]["provides"]
    assert shown["hindsight-broken"]["status"] == "broken"
    assert "a_package_that_nobody_ships" in shown["hindsight-broken"]["reason"]
    human = run(site, "-c", MAIN, "plugins", HINDSIGHT_MEM_PLUGINS="toy")
    assert human.returncode == 0, human.stderr
    assert "hindsight-toy" in human.stdout and "not chosen" in human.stdout


def test_the_command_line_shows_what_is_shadowed(install, capsys, monkeypatch):
    from hindsight_core.cli.entry import run as command

    # Other samples that are installed beside it may claim the same names.
    monkeypatch.setenv("HINDSIGHT_MEM_PLUGINS", "hindsight-rival")
    install("rival")
    assert command(["plugins", "--json"]) == 0
    rows = {row["distribution"]: row for row in json.loads(capsys.readouterr().out)["plugins"]}
    assert rows["hindsight-rival"]["shadowed"] == ["banks: sqlite"]
    assert rows["hindsight-rival"]["provides"] == ["embedders: toy"]
    assert command(["plugins", "list"]) == 0
    said = capsys.readouterr().out
    # Into a pipe: nothing is folded or cut.
    assert "shadowed: banks: sqlite" in said
    assert "…" not in said
