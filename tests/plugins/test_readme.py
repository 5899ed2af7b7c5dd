"""The chapter of the README on plugins: its files are written, its commands run, its tests pass."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_DEPS": "1"}
FENCED = re.compile(r"(?P<before>[^\n]*)\n\n```(?P<language>\w+)\n(?P<text>.*?)^```", re.M | re.S)
NAMED = re.compile(r"`(?P<path>hindsight-mem-[^`\s]+/[^`\s]+)`:$")
FIRST = "hindsight-mem-embedder-toy"
DECISION = "hindsight-mem-decision-short"


def chapter() -> str:
    return README.read_text(encoding="utf-8").split("\n## Write a plugin\n")[1].split("\n## ")[0]


@pytest.fixture(scope="module")
def blocks():
    """Files by their path, and the shell commands."""
    files, commands = {}, []
    for block in FENCED.finditer(chapter()):
        named = NAMED.search(block["before"])
        if block["language"] == "sh":
            commands += block["text"].splitlines()
        else:
            assert named, f"no path before: {block['text']}"
            files[named["path"]] = block["text"]
    return files, commands


@pytest.fixture(scope="module")
def packages(blocks, tmp_path_factory):
    """The packages of the chapter; where it says so, the first one's pyproject.toml serves."""
    parent = tmp_path_factory.mktemp("readme")
    files = dict(blocks[0])
    names = {path.split("/")[0] for path in files}
    first = files[f"{FIRST}/pyproject.toml"]
    for name in names - {FIRST}:
        renamed = first.replace(FIRST, name).replace("embedder-toy", name[len("hindsight-mem-") :])
        files[f"{name}/pyproject.toml"] = renamed.replace(
            FIRST.replace("-", "_"), name.replace("-", "_")
        )
    for path, text in files.items():
        (parent / path).parent.mkdir(parents=True, exist_ok=True)
        (parent / path).write_text(text, encoding="utf-8")
    return parent, sorted(names)


def run(environment, *command, cwd):
    path = f"{environment}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, **OFFLINE, "PATH": path},
        capture_output=True, text=True, timeout=55, check=False,
    )  # fmt: skip


def test_the_chapter_shows_whole_packages(packages):
    parent, names = packages
    kinds = ["decision", "embedder", "filter", "task", "templates"]
    assert [name.split("-")[2] for name in names] == kinds
    for name in names:
        project = tomllib.loads((parent / name / "pyproject.toml").read_text())["project"]
        assert project["name"] == name
        assert list(project["entry-points"]["hindsight"]) == [name.removeprefix("hindsight-mem-")]


def test_its_commands_do_what_it_says(blocks, packages, environment):
    parent, _ = packages
    said = {}
    for line in blocks[1]:
        done = run(environment, "sh", "-c", line, cwd=parent)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        said[line] = " ".join(done.stdout.split())
    gone = run(environment, "hindsight-mem", "plugins", "uninstall", DECISION, cwd=parent)
    assert gone.returncode == 0
    [install, _, doctor, _, uninstall, decision, backends, gate] = said.values()
    assert "decision_backends: short" in decision
    assert "short" in backends and "true" in gate.lower()
    assert "installed hindsight-mem-embedder-toy 0.1.0" in install
    assert "embedders: toy" in install
    assert "toy/pairs:256: 256 dimensions" in doctor
    assert uninstall == "uninstalled hindsight-mem-embedder-toy"


@pytest.mark.parametrize("kind", ["embedder", "filter", "templates"])
def test_its_packages_pass_their_own_tests(packages, environment, kit, kind):
    parent, names = packages
    [name] = [name for name in names if f"-{kind}-" in name]
    target = parent / "site"
    pip = ("python", "-m", "pip", "install", "-q", "--no-deps", "--target", target, parent / name)
    installed = run(environment, *pip, cwd=parent)
    assert installed.returncode == 0, installed.stderr
    command = (
        "env", f"PYTHONPATH={target}", "python", "-m", "pytest",
        "-q", "-W", "error", "-p", "no:cacheprovider", *kit,
    )  # fmt: skip
    done = run(environment, *command, cwd=parent / name)
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_decision_backend_and_its_task_reader_work(packages, new_memory, monkeypatch):
    parent, _ = packages
    for name in (DECISION, "hindsight-mem-task-reader-box"):
        monkeypatch.syspath_prepend(str(parent / name / "src"))
    short = importlib.import_module(DECISION.replace("-", "_"))
    boxes = importlib.import_module("hindsight_mem_task_reader_box")
    gate = {"decision": {"inject_gate": True, "backends": ["short", "text"]}}
    assert new_memory(short, settings=gate).turn("the queue").reason == "decision-no-inject"
    memory = new_memory(
        boxes,
        settings={"decision": {"inject_gate": True}},
        replies={"decision/route": {"answers": {"inject": False}}},
    )
    memory.turn("go on", before=[("assistant", "- [x] dig\n- [ ] plant")])
    assert "--- open tasks ---\n- plant\n---" in memory.model.requests[0].messages[0].content


def test_every_kind_that_can_be_begun_is_named():
    from hindsight_core.plugins.scaffold import scaffolds

    for kind in scaffolds():
        assert f"`{kind}`" in chapter()
