"""Rules of the house: form of modules, prompt text, documentation that agrees with code."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import hindsight_core
from hindsight_core.cli.main import COMMANDS
from hindsight_core.config.docs import legacy_rows, setting_rows
from hindsight_core.hookspecs import HookSpecs

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("hindsight_core/**/*.py"), *ROOT.glob("hosts/*/src/**/*.py")])
SHIMS = sorted(
    path
    for folder in (*ROOT.glob("hindsight_core"), *ROOT.glob("hosts/*/src"))
    for ending in ("js", "mjs", "ts")
    for path in folder.rglob(f"*.{ending}")
)
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = [m.name for m in pkgutil.walk_packages(hindsight_core.__path__, "hindsight_core.")]
# What one says to a model, not to a user or to SQLite.
TO_A_MODEL = re.compile(
    r"\byou are (?:a|an|the)\b|\byour (?:task|job|answer|reply)\b|\bdo not follow\b"
    r"|\b(?:answer|reply|respond|return)\b[^.]{0,40}\bJSON\b|\bthink step by step\b"
    r"|\buntrusted reference data\b",
    re.I,
)
SENTENCES = re.compile(r"[a-z)`'\"][.!?:] +[A-Z]")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """Strings of a module that are no docstrings; an f-string counts as one."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            parts = [part for part in node.values if isinstance(part, ast.Constant)]
            skipped.update(id(part) for part in parts)
            yield node.lineno, "".join(str(part.value) for part in parts)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in skipped
        ):
            yield node.lineno, node.value


def tracked() -> list[Path]:
    """Files of the repository; without git, what an archive of it holds."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        folders = ("hindsight_core", "hosts", "templates", "tests", "examples", ".ci")
        return [p for folder in folders for p in (ROOT / folder).rglob("*") if p.is_file()]
    return [ROOT / entry for entry in listed if entry and (ROOT / entry).is_file()]


def between(marker: str) -> list[str]:
    found = re.search(rf"<!-- {marker} -->\n(.*?)\n<!-- /{marker} -->", README, re.S)
    assert found, f"README.md has no block between <!-- {marker} --> and <!-- /{marker} -->"
    return found.group(1).splitlines()


# -- modules --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*SOURCES, *SHIMS], ids=name)
def test_no_file_is_longer_than_300_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_every_module_says_what_it_is_for(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("module", MODULES)
def test_what_a_module_names_as_public_can_be_imported(module):
    if module.endswith("__main__"):
        return
    loaded = importlib.import_module(module)
    listed = getattr(loaded, "__all__", ())
    assert len(set(listed)) == len(listed)
    assert [item for item in listed if not hasattr(loaded, item)] == []


def test_the_public_names_are_those_of_the_package():
    listed = set(hindsight_core.__all__)
    assert hindsight_core.__all__ == sorted(listed)
    for item in listed:
        assert getattr(hindsight_core, item) is not None
    public = {
        item
        for item, value in vars(hindsight_core).items()
        if not item.startswith("_") and not inspect.ismodule(value)
    }
    assert public - listed <= {"annotations", "import_module", "TYPE_CHECKING", "Any"}


# -- prompts and paths ----------------------------------------------------------------------


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_prompt_text_is_in_templates_only(path):
    found = [
        (line, text[:80])
        for line, text in literals(path)
        if TO_A_MODEL.search(text) or len(SENTENCES.findall(text)) >= 4
    ]
    assert found == []


def test_nothing_of_the_machine_it_was_written_on_is_in_a_file():
    folders = ("work", "tmp/w", "root")
    pattern = re.compile("|".join(rf"(?<![\w.:~}}])/{folder}/\w" for folder in folders))
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", errors="ignore")
        found += [f"{name(path)}: {match.group()}" for match in pattern.finditer(text)]
    assert found == []


# -- documentation --------------------------------------------------------------------------


@pytest.mark.parametrize("hook", [n for n in vars(HookSpecs) if n.startswith("hindsight_")])
def test_every_hook_is_in_the_readme_with_its_arguments(hook):
    function = getattr(HookSpecs, hook)
    arguments = [a for a in inspect.signature(function).parameters if a != "self"]
    assert f"`{hook}({', '.join(arguments)})`" in README
    assert inspect.getdoc(function)


def test_every_setting_is_in_the_readme_as_it_is():
    assert between("settings")[2:] == list(setting_rows())


def test_every_older_key_is_in_the_readme_as_it_is():
    assert between("legacy")[2:] == list(legacy_rows())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readme(command):
    assert f"hindsight-mem {command}" in README


def test_the_readme_names_no_command_that_there_is_not():
    written = README.replace("\n".join(between("legacy")), "")
    named = set(re.findall(r"hindsight-mem ([a-z][a-z-]+)", written))
    assert named <= set(COMMANDS)


def test_the_readme_leads_to_the_templates():
    assert "(templates/README.md)" in README


def test_the_first_two_shell_blocks_are_one_line_each():
    blocks = re.findall(r"^```sh\n(.*?)^```", README, re.M | re.S)
    assert len(blocks) >= 2
    assert [len(block.strip().splitlines()) for block in blocks[:2]] == [1, 1]
