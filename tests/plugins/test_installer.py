"""``hindsight-mem plugins install`` and ``uninstall``: what is run, and what its failure says."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from hindsight_core.cli.entry import run as command
from hindsight_core.errors import PluginError
from hindsight_core.plugins.installer import Installer

DISTS = Path(__file__).parent / "dists"
MANAGED = "error: externally-managed-environment\n\n× This environment is externally managed\n"
ABSENT = (
    "ERROR: Could not find a version that satisfies the requirement nope\n"
    "ERROR: No matching distribution found for nope\n"
)


# Only what is in this environment, and nothing from an index.
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_DEPS": "1"}


class Shell:
    """Stands for the operating system: what was run, and what the installer said."""

    def __init__(self, *lists: dict[str, str], stderr: str = ""):
        self.lists = list(lists)
        self.stderr = stderr
        self.ran: list[tuple[str, ...]] = []

    def __call__(self, command):
        if command[1] == "-c":
            now = self.lists.pop(0) if len(self.lists) > 1 else self.lists[0]
            return subprocess.CompletedProcess(command, 0, json.dumps(sorted(now.items())), "")
        self.ran.append(tuple(command))
        return subprocess.CompletedProcess(command, 1 if self.stderr else 0, "", self.stderr)


def test_pip_of_this_environment_is_used():
    shell = Shell({"b": "1"}, {"a": "1", "b": "2"})
    changed = Installer(run=shell, python="py", has_pip=True).install(["a", "b"], upgrade=True)
    quiet = ("--quiet", "--disable-pip-version-check")
    assert shell.ran == [("py", "-m", "pip", "install", *quiet, "--upgrade", "a", "b")]
    assert (changed.new, changed.gone) == (["a", "b"], [])


def test_removing_asks_nothing():
    shell = Shell({"a": "1", "b": "2"}, {"b": "2"})
    changed = Installer(run=shell, python="py", has_pip=True).uninstall(["a"])
    assert shell.ran[0][-2:] == ("--yes", "a")
    assert (changed.new, changed.gone) == ([], ["a"])


def test_uv_is_used_where_there_is_no_pip():
    shell = Shell({})
    installer = Installer(run=shell, python="py", has_pip=False, uv="/bin/uv")
    installer.install(["a"])
    installer.uninstall(["a"])
    assert shell.ran == [
        ("/bin/uv", "pip", "install", "--quiet", "--python", "py", "a"),
        ("/bin/uv", "pip", "uninstall", "--quiet", "--python", "py", "a"),
    ]


def test_an_environment_without_an_installer_says_so():
    with pytest.raises(PluginError, match="has no pip, and there is no uv"):
        Installer(run=Shell({}), has_pip=False, uv="").install(["a"])


@pytest.mark.parametrize(
    ("stderr", "says"),
    [
        (ABSENT, "pip failed for nope: .*No matching distribution found for nope"),
        (MANAGED, "managed by the system.*pipx inject hindsight-core nope"),
        ("Traceback\n  File x\nOSError: disk full\n", "pip failed for nope: .*OSError: disk full"),
    ],
)
def test_a_failure_is_one_line_with_its_reason(stderr, says):
    with pytest.raises(PluginError, match=says) as caught:
        Installer(run=Shell({}, stderr=stderr), has_pip=True).install(["nope"])
    assert "\n" not in str(caught.value)


def test_what_would_be_run_is_printed(capsys):
    assert command(["plugins", "install", "--dry-run", "hindsight-mem-filter-x"]) == 0
    assert "install" in capsys.readouterr().out
    assert command(["plugins", "install", "--json", "--dry-run", "x==1"]) == 0
    assert json.loads(capsys.readouterr().out)["command"][-1] == "x==1"


def test_options_are_no_plugins(capsys):
    assert command(["plugins", "install", "--", "--index-url=http://x"]) == 2
    assert "is no plugin" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["hindsight-core", "pip", "hindsight-mem-filter-gone"])
def test_only_plugins_are_removed(capsys, name):
    assert command(["plugins", "uninstall", name]) == 2
    assert f"{name!r} is no installed plugin; installed: " in capsys.readouterr().err


def test_really_install_use_and_remove(environment, tmp_path):
    def mem(*arguments, code=0):
        done = subprocess.run(
            [environment / "python", "-m", "hindsight_core", *arguments],
            cwd=tmp_path,
            env={**os.environ, **OFFLINE},
            capture_output=True, text=True, timeout=55, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    mem("plugins", "new", "embedder", "mine")
    assert "embedders: mine" in mem("plugins", "install", "./hindsight-mem-embedder-mine")
    for again in ("./hindsight-mem-embedder-mine", "hindsight-mem-embedder-mine"):
        assert "installed already" in mem("plugins", "install", again)
    mem("config", "set", "embeddings.provider", "mine")
    assert "mine/words:64: 64 dimensions" in mem("doctor", "--bank", "shop").replace("\n", " ")
    assert "uninstalled hindsight-mem-embedder-mine" in mem("plugins", "uninstall", "embedder-mine")
    assert "is no installed plugin" in mem("plugins", "uninstall", "embedder-mine", code=2)
    broken = mem("plugins", "install", str(DISTS / "broken"), code=1)
    assert "a_package_that_nobody_ships" in broken
    mem("plugins", "uninstall", "hindsight-broken")
