"""What ``install omp`` writes, and what it finds in the way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hindsight_host_omp import host
from hindsight_host_omp.places import agent_dir, config_file
from hindsight_host_omp.yaml_text import YamlText

from hindsight_core.errors import ConfigError
from hindsight_core.host import InstallRequest
from hindsight_core.testing.hosts import carry_out

SHIM = {"index.ts", "offer.ts", "client.js", "screen.js", "extension.js"}
FILES = {*SHIM, "launch.json", "package.json"}
BLOCK = '# mine\nextensions:\n  - npm:pi-hindsight # old\n  - "/mine.ts"   # mine too\nz: 1\n'


@pytest.fixture
def request_(tmp_path: Path) -> InstallRequest:
    return InstallRequest(
        env={"HOME": str(tmp_path), "PATH": ""},
        shims=tmp_path / "shims",
        command=("hindsight-mem", "bridge", "--host", "omp"),
        bridge_env={"HINDSIGHT_MEM_HOME": "/memory"},
    )


@pytest.fixture
def config(request_: InstallRequest) -> Path:
    path = agent_dir(request_.env) / "config.yml"
    path.parent.mkdir(parents=True)
    return path


def test_the_extension_is_a_folder_of_its_own(request_: InstallRequest, config: Path) -> None:
    carry_out(host.install(request_))

    folder = config.parent / "extensions/hindsight-mem"
    assert {path.name for path in folder.iterdir()} == FILES
    launch = json.loads((folder / "launch.json").read_text())
    assert launch == {"command": [*request_.command], "env": {"HINDSIGHT_MEM_HOME": "/memory"}}
    assert not config.exists()
    assert not request_.shims.exists()


def test_a_projects_extension_is_in_the_project(request_: InstallRequest, tmp_path: Path) -> None:
    project = replace(request_, project=tmp_path / "proj")
    carry_out(host.install(project))

    assert (tmp_path / "proj/.omp/extensions/hindsight-mem/index.ts").exists()
    assert host.uninstall(request_).changes == ()
    carry_out(host.uninstall(project))
    assert [path for path in (tmp_path / "proj").rglob("*") if path.is_file()] == []


@pytest.mark.spec("br/BR-47")
def test_an_original_in_the_settings_gives_way_only_when_told(
    request_: InstallRequest, config: Path
) -> None:
    config.write_text(BLOCK)

    with pytest.raises(ConfigError, match="stored twice") as refused:
        host.install(request_)
    plan = host.install(replace(request_, replace=True))
    carry_out(plan)

    assert "npm:pi-hindsight" in str(refused.value)
    assert config.read_text() == '# mine\nextensions:\n  - "/mine.ts"   # mine too\nz: 1\n'
    assert plan.notes == (f"Took npm:pi-hindsight out of {config}.",)
    assert host.install(request_).changes == ()


@pytest.mark.parametrize("where", ["folder", "plugin", "legacy settings"])
@pytest.mark.parametrize("is_replacing", [False, True])
def test_an_original_elsewhere_is_the_users_to_take_out(
    request_: InstallRequest, config: Path, tmp_path: Path, where: str, is_replacing: bool
) -> None:
    if where == "folder":
        (config.parent / "extensions/pi-hindsight-s1enhanced").mkdir(parents=True)
    elif where == "plugin":
        plugins = tmp_path / ".omp/plugins/package.json"
        plugins.parent.mkdir()
        plugins.write_text(json.dumps({"dependencies": {"pi-active-memory": "^1", "other": "1"}}))
    else:
        old = config.with_name("settings.json")
        old.write_text(json.dumps({"extensions": ["/src/pi-hindsight/index.ts"]}))

    with pytest.raises(ConfigError, match=r"omp plugin uninstall|remove |take it out of "):
        host.install(replace(request_, replace=is_replacing))


@pytest.mark.parametrize(
    ("text", "backend"),
    [
        ("memory:\n  backend: hindsight\n", "hindsight"),
        ("memory.backend: mnemopi\n", "mnemopi"),
        ("memory: {backend: off}\n", None),
        ("theme: dark\n", None),
        ("", None),
    ],
)
def test_omps_own_memory_is_told_of(
    request_: InstallRequest, config: Path, text: str, backend: str | None
) -> None:
    config.write_text(text)
    notes = host.install(request_).notes

    assert list(host.obstacles(request_)) == list(notes)
    assert len(notes) == (backend is not None)
    assert backend is None or f"memory.backend: {backend} in {config}" in notes[0]


@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({}, ".omp/agent"),
        ({"OMP_PROFILE": "work"}, ".omp/profiles/work/agent"),
        ({"OMP_PROFILE": "", "PI_PROFILE": "work"}, ".omp/agent"),
        ({"PI_PROFILE": "work"}, ".omp/profiles/work/agent"),
        ({"OMP_PROFILE": "work", "PI_CODING_AGENT_DIR": "/other"}, ".omp/profiles/work/agent"),
        ({"PI_CODING_AGENT_DIR": "/other"}, "/other"),
    ],
)
def test_where_omp_looks(env: dict[str, str], folder: str, tmp_path: Path) -> None:
    assert agent_dir({"HOME": str(tmp_path), **env}) == tmp_path / folder


def test_the_second_name_of_the_settings_counts_without_the_first(config: Path) -> None:
    other = config.with_name("config.yaml")
    other.write_text("a: 1\n")
    assert config_file(config.parent) == other
    config.write_text("a: 2\n")
    assert config_file(config.parent) == config


def test_omp_is_found_by_its_folder_or_its_program(
    request_: InstallRequest, tmp_path: Path
) -> None:
    assert host.detected(request_.env) is None
    program = tmp_path / "bin/omp"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert host.detected({**request_.env, "PATH": str(program.parent)}) == str(program)
    agent_dir(request_.env).mkdir(parents=True)
    assert host.detected(request_.env) == str(tmp_path / ".omp/agent")


@pytest.mark.parametrize(
    ("before", "index", "after"),
    [
        ("extensions:\n- a\n- b # x\n- c\n", 1, "extensions:\n- a\n- c\n"),
        ("extensions:\n- a\n- b", 1, "extensions:\n- a\n"),
        ("a: 1\nextensions:\n- a\n\n# next\nz: 1\n", 0, "a: 1\n\n# next\nz: 1\n"),
        ("extensions: [a, b, c] # x\n", 0, "extensions: [b, c] # x\n"),
        ("extensions: [a, b, c]\n", 2, "extensions: [a, b]\n"),
        ("extensions: [a]\nz: 1\n", 0, "z: 1\n"),
        (
            "extensions:\n  [\n    a,\n    b,\n  ]\nz: 1\n",
            1,
            "extensions:\n  [\n    a,\n  ]\nz: 1\n",
        ),
    ],
)
def test_one_entry_leaves_and_the_rest_stays(
    tmp_path: Path, before: str, index: int, after: str
) -> None:
    path = tmp_path / "config.yml"
    path.write_text(before)
    text = YamlText(path)
    text.drop("extensions", index)

    assert text.text == after


def test_a_form_that_cannot_be_changed_with_certainty_is_left(tmp_path: Path) -> None:
    path = tmp_path / "config.yml"
    path.write_text("base: &all [a, b]\nextensions: *all\n")
    text = YamlText(path)

    with pytest.raises(ConfigError, match="yourself"):
        text.drop("extensions", 0)


@pytest.mark.parametrize("text", ["- a\n- b\n", "just words\n"])
def test_settings_that_are_no_mapping_are_refused(
    request_: InstallRequest, config: Path, text: str
) -> None:
    config.write_text(text)

    with pytest.raises(ConfigError, match="line 1: must hold a mapping"):
        host.install(request_)
