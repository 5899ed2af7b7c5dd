"""The wiring: entries in opencode's two plugin lists, an original plugin's options."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hindsight_host_opencode import host

from hindsight_core.errors import ConfigError
from hindsight_core.host import InstallRequest
from hindsight_core.jsonc import JsonText
from hindsight_core.testing.hosts import carry_out

OPTIONS = {"hindsightApiUrl": "http://localhost:8888", "defaults": {"bankId": "project"}}
COMMENTED = """{
  // which model
  "model": "a/b",
  "plugin": [
    "other-plugin", // stays
    /* memory */ ["@toady00/opencode-hindsight@0.2.2", {
      "hindsightApiUrl": "http://localhost:8888", // ours
      "defaults": {"bankId": "project"},
    }],
  ],
}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "home/.config/opencode"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def request_(tmp_path: Path, config: Path) -> InstallRequest:
    return InstallRequest(
        env={"HOME": str(tmp_path / "home")},
        shims=tmp_path / "shims",
        command=("python", "-m", "hindsight_core", "bridge", "--host", "opencode"),
        bridge_env={"HINDSIGHT_MEM_HOME": str(tmp_path / "memory")},
    )


def plugins(file: Path) -> list[Any]:
    listed: list[Any] = JsonText(file.read_text()).get(["plugin"])
    return listed


def test_both_plugins_are_listed_and_the_shim_is_complete(
    request_: InstallRequest, config: Path, tmp_path: Path
) -> None:
    plan = host.install(request_)
    carry_out(plan)

    shims = tmp_path / "shims"
    assert plugins(config / "opencode.json") == [str(shims / "index.js")]
    assert plugins(config / "tui.json") == [str(shims / "tui.js")]
    names = {"index.js", "tui.js", "client.js", "launch.json", "package.json"}
    assert {path.name for path in shims.iterdir()} == names
    launch = json.loads((shims / "launch.json").read_text())
    assert launch["command"][0] == "python"
    assert launch["env"] == {"HINDSIGHT_MEM_HOME": str(tmp_path / "memory")}
    assert json.loads((shims / "package.json").read_text())["type"] == "module"
    assert not plan.migrant
    carry_out(host.uninstall(request_))
    assert list(config.iterdir()) == [] and list(shims.iterdir()) == []


@pytest.mark.spec("oc/O-CFG-1")
def test_an_original_plugin_gives_its_place_and_its_options(
    request_: InstallRequest, config: Path, tmp_path: Path
) -> None:
    file = config / "opencode.jsonc"
    file.write_text(COMMENTED)
    (config / "tui.json").write_text('{"plugin": ["@toady00/opencode-hindsight@0.2.2"]}')

    with pytest.raises(ConfigError, match="stored twice"):
        host.install(request_)
    assert file.read_text() == COMMENTED
    plan = host.install(replace(request_, replace=True))
    carry_out(plan)

    shims = tmp_path / "shims"
    other, ours = plugins(file)
    assert other == "other-plugin"
    assert ours == [str(shims / "index.js"), {"profile": "opencode-hindsight", **OPTIONS}]
    assert "// which model" in file.read_text() and "// stays" in file.read_text()
    assert plugins(config / "tui.json") == [str(shims / "tui.js")]
    assert plan.migrant and len(plan.notes) == 2
    assert not (config / "opencode.json").exists()
    assert host.install(request_).changes == ()


def test_options_that_the_user_gave_our_entry_stay(
    request_: InstallRequest, config: Path, tmp_path: Path
) -> None:
    entry = [str(tmp_path / "shims/index.js"), {"applyMode": "opt-out"}]
    (config / "opencode.json").write_text(json.dumps({"plugin": [entry]}))

    carry_out(host.install(request_))

    assert plugins(config / "opencode.json") == [entry]
    carry_out(host.uninstall(request_))
    assert list(config.glob("*.json")) == []


def test_two_originals_become_one_entry(request_: InstallRequest, config: Path) -> None:
    listed = [["@toady00/opencode-hindsight", {"debug": True}], "hindsight-opencode", "mine"]
    (config / "opencode.json").write_text(json.dumps({"plugin": listed}))

    plan = host.install(replace(request_, replace=True))
    carry_out(plan)

    ours, mine = plugins(config / "opencode.json")
    assert ours[1] == {"profile": "opencode-hindsight", "debug": True}
    assert mine == "mine"
    assert any("hindsight-opencode" in note for note in plan.notes)


def test_the_projects_own_files(request_: InstallRequest, tmp_path: Path) -> None:
    project = tmp_path / "proj"
    project.mkdir()

    carry_out(host.install(replace(request_, project=project)))

    assert plugins(project / "opencode.json") == [str(tmp_path / "shims/index.js")]
    assert plugins(project / ".opencode/tui.json") == [str(tmp_path / "shims/tui.js")]
    carry_out(host.uninstall(replace(request_, project=project)))
    assert not (project / "opencode.json").exists()
    assert (tmp_path / "shims/index.js").exists(), "another project may use them"


def test_a_folder_of_ones_own(request_: InstallRequest, tmp_path: Path) -> None:
    env = {**request_.env, "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    carry_out(host.install(replace(request_, env=env)))

    assert (tmp_path / "xdg/opencode/opencode.json").exists()


@pytest.mark.parametrize("text", ["[]", '{"plugin": "x"}', '{"plugin": [}'])
def test_a_file_of_another_form_is_refused(
    request_: InstallRequest, config: Path, text: str
) -> None:
    (config / "opencode.json").write_text(text)

    with pytest.raises(ConfigError, match=r"opencode\.json"):
        host.install(request_)


@pytest.mark.spec("oc/O-EV-11")
def test_the_entry_module_exports_the_plugin_and_nothing_else(
    request_: InstallRequest, tmp_path: Path
) -> None:
    carry_out(host.install(request_))
    source = (tmp_path / "shims/index.js").read_text()

    exports = [line for line in source.splitlines() if line.startswith("export")]
    assert exports == ["export default async function hindsight(input, options) {"]
    assert "require(" not in source
    imported = {line.split('"')[-2] for line in source.splitlines() if line.startswith("import")}
    assert imported == {"node:fs", "node:path", "node:url", "./client.js"}
