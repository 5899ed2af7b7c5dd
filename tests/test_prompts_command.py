from __future__ import annotations

import json
from pathlib import Path

import pytest

from hindsight_core.cli.entry import run
from hindsight_core.prompt_layers import packaged_root


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def home(_empty_home: Path) -> Path:
    return _empty_home / "memory"


def data(capsys: pytest.CaptureFixture[str]):
    return json.loads(capsys.readouterr().out)


def test_list_shows_which_file_wins(project, home, capsys):
    assert run(["prompts", "copy", "recall/judge"]) == 0
    capsys.readouterr()
    assert run(["prompts", "list", "--json"]) == 0
    rows = {row["template"]: row for row in data(capsys)["prompts"]}
    judge = rows["recall/judge.j2"]
    assert (judge["origin"], judge["path"]) == ("user", str(home / "templates/recall/judge.j2"))
    assert judge["shadowed"] == [str(packaged_root() / "recall/judge.j2")]
    assert rows["recall/queries.j2"]["origin"] == "packaged"
    assert run(["prompts", "list"]) == 0
    assert "recall/judge" in capsys.readouterr().out


def test_copy_writes_both_parts_once(project, home, capsys):
    assert run(["prompts", "copy", "recall/judge", "--json"]) == 0
    written = data(capsys)["written"]
    folder = home / "templates/recall"
    assert sorted(written) == [str(folder / "judge.j2"), str(folder / "judge.system.j2")]
    text = (packaged_root() / "recall/judge.j2").read_text()
    assert (folder / "judge.j2").read_text() == text
    (folder / "judge.j2").write_text("mine")
    assert run(["prompts", "copy", "recall/judge"]) == 2
    assert "--force" in capsys.readouterr().err
    assert (folder / "judge.j2").read_text() == "mine"
    assert run(["prompts", "copy", "recall/judge", "--force"]) == 0
    assert (folder / "judge.j2").read_text() == text


def test_copy_to_an_agent_and_to_the_project(project, home, capsys):
    assert run(["prompts", "copy", "blocks/recall", "--agent", "reviewer"]) == 0
    assert (home / "agents/reviewer/templates/blocks/recall.j2").is_file()
    assert run(["prompts", "copy", "blocks/recall", "--project"]) == 0
    assert (project / ".hindsight/templates/blocks/recall.j2").is_file()
    assert "hindsight-mem trust" in capsys.readouterr().err
    assert run(["prompts", "copy", "blocks/recall", "--agent", "../up"]) == 2


@pytest.mark.parametrize("stage", ["core/open", "recall/jugde", "../x"])
def test_copy_refuses_what_cannot_be_overridden(project, capsys, stage):
    assert run(["prompts", "copy", stage]) == 2
    assert "recall/judge" in capsys.readouterr().err or stage != "recall/jugde"


def test_an_untrusted_project_changes_no_prompt(project, capsys):
    path = project / ".hindsight/templates/recall/judge.j2"
    path.parent.mkdir(parents=True)
    path.write_text("from the project")
    assert run(["prompts", "show", "recall/judge", "--json"]) == 0
    assert {t["origin"] for t in data(capsys)["templates"]} == {"packaged"}


def test_show_prints_the_template_and_its_variables(project, capsys):
    assert run(["prompts", "show", "recall/judge"]) == 0
    out = capsys.readouterr().out
    assert (packaged_root() / "recall/judge.j2").read_text().strip() in out
    assert "variables: facts, query, request" in out
    assert run(["prompts", "show", "nope/nope"]) == 2


def test_check_finds_problems_and_says_so_with_its_exit_code(project, home, capsys):
    assert run(["prompts", "check"]) == 0
    assert "0 overridden templates, all usable" in capsys.readouterr().out
    path = home / "templates/recall/judge.j2"
    path.parent.mkdir(parents=True)
    path.write_text("{{ request }} {{ mystery }}")
    assert run(["prompts", "check", "--json"]) == 2
    found = data(capsys)
    assert found["checked"] == 1
    assert "'mystery'" in found["problems"][0] and str(path) in found["problems"][0]
    assert "facts, query" in found["hints"][0]


def test_prompts_of_the_configuration_count(project, home, capsys):
    home.mkdir(parents=True)
    (home / "config.toml").write_text('[prompts]\n"recall/judge" = "{{ request }} {{ nope }}"\n')
    assert run(["prompts", "check", "--json"]) == 2
    assert data(capsys)["problems"][0].startswith("prompts.recall/judge, line 1")
    assert run(["prompts", "show", "recall/judge", "--json"]) == 0
    assert data(capsys)["templates"][-1]["origin"] == "config"
