"""Which bank, in which backend, and why."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hindsight_core.config.banks import match_path


@pytest.mark.spec("pi/C-10", "pi/C-11")
def test_nothing_declared_is_dormant_but_has_a_name(world):
    bank = world.load().bank
    assert (bank.id, bank.declared) == ("shop-front", False)
    assert "no bank is declared" in bank.reason


@pytest.mark.spec("pi/C-10", "pi/C-11")
def test_auto_in_the_global_file_is_the_folder(world):
    world.pi_global({"bankId": "auto"})
    bank = world.load().bank
    assert (bank.id, bank.declared) == ("shop-front", True)


@pytest.mark.spec("pi/C-10")
def test_a_name_in_another_programs_global_file_is_ignored(world):
    file = world.pi_global({"bankId": "everything"})
    bank = world.load().bank
    assert (bank.id, bank.declared) == ("shop-front", False)
    assert str(file) in bank.reason


@pytest.mark.spec("pi/C-10", "pi/C-11", "pi/C-12")
def test_the_projects_name_is_made_a_slug(world):
    world.pi_global({"bankId": "auto"})
    world.pi_project({"bankId": "My Project Bank"})
    bank = world.load().bank
    assert (bank.id, bank.declared) == ("my-project-bank", True)


@pytest.mark.spec("pi/C-10", "br/BR-55")
def test_the_order_of_declarations(world):
    world.own('[bank]\nid = "own"\n')
    seen = [world.load().bank.id]
    world.env = {"HINDSIGHT_BANK": " from env "}
    seen.append(world.load().bank.id)
    world.pi_project({"bankId": "project"})
    seen.append(world.load().bank.id)
    options = {"bank": {"id": "host"}}
    seen.append(world.load(host_options=options).bank.id)
    options["agents"] = {"build": {"bankId": "agent"}}
    seen.append(world.load(host_options=options, agent="build").bank.id)
    world.env |= {"PI_HINDSIGHT_PROJECT_BANK_ID": "pi"}
    seen.append(world.load(host_options=options, agent="build").bank.id)
    world.env |= {"HINDSIGHT_MEM_BANK__ID": "ours"}
    seen.append(world.load(host_options=options, agent="build").bank.id)
    command = {"bank": {"id": "asked"}}
    seen.append(world.load(host_options=options, agent="build", overrides=command).bank.id)
    assert seen == ["own", "from-env", "project", "host", "agent", "pi", "ours", "asked"]


@pytest.mark.spec("pi/C-10")
def test_a_blank_variable_declares_nothing(world):
    world.own('[bank]\nid = "own"\n')
    world.env = {"HINDSIGHT_BANK": "  "}
    assert world.load().bank.id == "own"


@pytest.mark.spec("pi/D-21")
def test_an_empty_name_in_the_project_switches_a_global_auto_off(world):
    world.pi_global({"bankId": "auto"})
    file = world.pi_project({"bankId": ""})
    bank = world.load().bank
    assert not bank.declared
    assert "switched off" in bank.reason and str(file) in bank.reason


def test_a_verbatim_name_is_kept_as_written(world):
    world.own_project('[bank]\nid = " Team::A "\nnaming = "verbatim"\n')
    assert world.load().bank.id == " Team::A "


@pytest.mark.spec("pi/D-21")
def test_a_second_project_of_the_same_name_gets_its_own(world):
    world.own('[bank]\nid = "auto"\n')
    other = world.root / "elsewhere/Shop Front"
    other.mkdir(parents=True)
    first, second = world.load().bank.id, world.load(cwd=other).bank.id
    assert first == "shop-front"
    assert second is not None and second.startswith("shop-front-") and len(second) == 17
    assert (world.load().bank.id, world.load(cwd=other).bank.id) == (first, second)


def test_a_dormant_session_takes_no_name(world):
    other = world.root / "elsewhere/Shop Front"
    other.mkdir(parents=True)
    assert world.load(cwd=other, host="pi").bank.id == "shop-front"
    assert not (world.memory / "projects").exists()
    world.own('[bank]\nid = "auto"\n')
    assert world.load().bank.id == "shop-front"


@pytest.mark.spec("pi/D-21")
def test_commands_without_a_declaration_never_share_a_bank(world):
    other = world.root / "elsewhere/Shop Front"
    other.mkdir(parents=True)
    assert world.load().bank.id != world.load(cwd=other).bank.id


def test_two_clones_of_one_remote_share_a_bank(world, git):
    world.own('[bank]\nid = "auto"\n')
    other = world.root / "second/Shop Front"
    other.mkdir(parents=True)
    for folder, url in ((world.project, "git@h.org:a/b.git"), (other, "https://h.org/a/b")):
        git(folder, "init", "-q")
        git(folder, "remote", "add", "origin", url)
    assert world.load().bank.id == world.load(cwd=other).bank.id == "shop-front"


@pytest.mark.spec("br/BR-23")
def test_a_deleted_worktree_is_still_known(world, git):
    world.own('[bank]\nid = "auto"\n')
    git(world.project, "init", "-q")
    git(world.project, "commit", "-q", "--allow-empty", "-m", "start")
    git(world.project, "worktree", "add", "-q", "../wt1")
    linked = world.root / "wt1"
    assert world.load(cwd=linked).bank.id == "shop-front"
    shutil.rmtree(linked)
    assert world.load(cwd=linked).bank.id == "shop-front"


@pytest.mark.spec("br/BR-23")
def test_what_cannot_be_followed_invents_no_bank(world):
    world.own('[bank]\nid = "auto"\n')
    lost = world.root / "lost"
    lost.mkdir()
    (lost / ".git").write_text("gitdir: /nowhere\n")
    bank = world.load(cwd=lost).bank
    assert (bank.id, bank.declared) == (None, False)
    assert "no new bank" in bank.reason
    gone = world.load(cwd=world.root / "never-there").bank
    assert (gone.id, gone.declared) == (None, False)


@pytest.mark.spec("br/BR-70")
@pytest.mark.parametrize("name", ["проект", "日本語 プロジェクト", "café", "100% done", "emoji-🚀"])
def test_a_project_keeps_its_bank_when_the_rule_changes(world, name):
    from hindsight_core.config.claims import Claims
    from hindsight_core.config.project import locate

    folder = world.root / name
    folder.mkdir()
    world.own('[bank]\nid = "auto"\n')
    now = world.load(cwd=folder).bank.id
    place = locate(folder, {})
    renamed = type(place)(place.cwd, place.root, place.checkout, "as a later rule would say")
    assert Claims(world.memory / "projects").bank(renamed, claim=True) == now
    files = list((world.memory / "projects").iterdir())
    assert files and all(file.name.isascii() for file in files)


def test_no_project_has_no_automatic_bank_but_may_have_a_named_one(world):
    world.own('[bank]\nid = "auto"\n')
    bank = world.load(cwd=world.home).bank
    assert (bank.id, bank.declared) == (None, False)
    assert "home folder" in bank.reason
    world.env = {"HINDSIGHT_BANK": "notes"}
    assert world.load(cwd=world.home).bank.id == "notes"


def test_a_home_that_cannot_be_written_is_no_failure(world):
    world.own('[bank]\nid = "auto"\n')
    (world.memory / "projects").write_text("in the way")
    assert world.load().bank.id == "shop-front"


@pytest.mark.spec("br/BR-49", "oc/O-CA-1")
@pytest.mark.parametrize(
    ("table", "folder", "expected"),
    [
        ({"/srv/code/shop": "mine"}, "/srv/code/shop/src", "mine"),
        ({"/srv/code/shop": "mine"}, "/srv/code/shop-two", None),
        ({"/srv": "outer", "/srv/code/shop": "inner"}, "/srv/code/shop", "inner"),
        ({"C:\\Work\\Shop": "mine"}, "c:/work/shop", "mine"),
        ({"C:\\Work\\Shop": "mine"}, "C:\\Work\\Shop\\src", "mine"),
        ({"C:\\Work\\Shop": "mine"}, "C:\\Work\\Shop2", None),
        ({"C:\\Work\\Shop": "mine"}, "/mnt/c/Work/Shop", "mine"),
        ({"~/code": "home"}, "/home/Ann Example/code/x", "home"),
        ({"~/code": "home"}, "/home/Ann Example/codex", None),
    ],
)
def test_paths_match_by_whole_parts(table, folder, expected):
    found = match_path(table, Path(folder), {"HOME": "/home/Ann Example"})
    assert (found[1] if found else None) == expected


@pytest.mark.spec("br/BR-49")
def test_bank_paths_through_a_link(world):
    world.own(f'[bank]\nid = "auto"\n[bank.paths]\n"{world.project}" = "mine"\n')
    link = world.root / "link"
    link.symlink_to(world.project)
    assert world.load(cwd=link).bank.id == "mine"
    world.pi_project({"bankId": "project"})
    assert world.load().bank.id == "project", "the project's own word is stronger"


def test_template(world):
    world.own('[bank]\nid = "auto"\ntemplate = "{host}::{project}"\n')
    assert world.load(host="pi").bank.id == "pi::shop-front"
    assert world.load().bank.id == "shop-front"


@pytest.mark.spec("oc/O-CA-1")
def test_opt_in_only(world):
    world.own('[bank]\nid = "auto"\nopt_in_only = true\nopt_in_paths = ["~/work"]\n')
    bank = world.load().bank
    assert not bank.declared and "opt_in" in bank.reason
    inside = world.home / "work/thing"
    inside.mkdir(parents=True)
    assert world.load(cwd=inside).bank.declared


def test_backend_auto_says_why(world):
    assert world.load().bank.backend == "sqlite"
    assert "no Hindsight server" in world.load().bank.reason
    world.env = {"HINDSIGHT_API_URL": "http://bank:1"}
    bank = world.load().bank
    assert (bank.backend, "HINDSIGHT_API_URL" in bank.reason) == ("hindsight", True)
    world.env = {}
    file = world.pi_project({"memoryLanguage": "ru"})
    bank = world.load().bank
    assert (bank.backend, str(file) in bank.reason) == ("hindsight", True)
    assert world.load(trusted=False).bank.backend == "sqlite"
    assert world.load(overrides={"bank": {"backend": "qdrant"}}).bank.backend == "qdrant"


@pytest.mark.spec("s1/S-ID-4")
def test_the_name_of_the_older_plugin_is_offered_for_adoption(world):
    from hindsight_core.config.slugs import digest

    expected = f"pi-project-shop-front-{digest(str(world.project), length=12)}"
    assert world.load().bank.aliases == (expected,)
