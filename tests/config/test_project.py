"""Which project a folder belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight_core.config.project import locate, project_id


@pytest.fixture
def shop(tmp_path: Path, git) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    (folder / "src/deep").mkdir(parents=True)
    return folder


@pytest.mark.spec("br/BR-23", "s1/S-ID-1")
def test_worktrees_and_subfolders_are_the_main_worktrees_project(shop, git, world):
    git(shop, "worktree", "add", "-q", "../shop-wt1")
    linked = shop.parent / "shop-wt1"
    for folder in (shop, shop / "src/deep", linked):
        place = locate(folder, {"HOME": str(world.home)})
        assert (place.root, place.name) == (shop, "shop")
    assert locate(linked, {}).checkout == linked


@pytest.mark.spec("br/BR-23")
def test_a_bare_layout_is_named_after_its_folder(shop, git, tmp_path):
    hub = tmp_path / "hub"
    hub.mkdir()
    git(tmp_path, "clone", "-q", "--bare", "shop", "hub/.bare")
    (hub / ".git").write_text("gitdir: ./.bare\n")
    git(hub, "worktree", "add", "-q", "main", "HEAD")
    assert locate(hub / "main", {}).name == "hub"
    assert locate(hub, {}).name == "hub"
    git(tmp_path, "clone", "-q", "--bare", "shop", "store.git")
    git(tmp_path / "store.git", "worktree", "add", "-q", "../elsewhere", "HEAD")
    assert locate(tmp_path / "elsewhere", {}).name == "store"


def test_a_submodule_is_a_project_of_its_own(shop, git, tmp_path):
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(shop), "part")
    assert locate(outer / "part", {}).name == "part"


def test_a_folder_without_git_is_a_project(tmp_path):
    place = locate(tmp_path, {})
    assert (place.root, place.name, place.remote) == (tmp_path, tmp_path.name, None)


def test_the_root_the_home_and_temporary_folders_are_no_projects(tmp_path):
    home = tmp_path / "people/ann"
    home.mkdir(parents=True)
    (home / ".git").mkdir()
    (home / ".git/HEAD").write_text("ref: refs/heads/main\n")
    env = {"HOME": str(home), "TMPDIR": str(tmp_path / "scratch")}
    (tmp_path / "scratch").mkdir()
    for folder in (Path("/"), home, home.parent, tmp_path / "scratch", Path("/tmp")):
        place = locate(folder, env)
        assert place.root is None, folder
        assert place.reason and "no project" in place.reason
    (home / "notes").mkdir()
    assert locate(home / "notes", env).name == "notes", "a repository of dotfiles is no project"
    (tmp_path / "scratch/job").mkdir()
    assert locate(tmp_path / "scratch/job", env).name == "job"


@pytest.mark.spec("br/BR-49")
def test_a_link_leads_to_its_target(shop, tmp_path):
    (tmp_path / "link").symlink_to(shop)
    assert locate(tmp_path / "link", {}).root == shop


@pytest.mark.spec("br/BR-23")
@pytest.mark.parametrize("content", ["gitdir: /nowhere/at/all\n", "garbage\n"])
def test_a_worktree_that_cannot_be_followed_is_unsure(tmp_path, content):
    folder = tmp_path / "lost"
    folder.mkdir()
    (folder / ".git").write_text(content)
    place = locate(folder, {})
    assert place.unsure
    assert place.reason and str(folder) in place.reason


@pytest.mark.spec("s1/S-ID-3")
def test_the_project_id_takes_the_first_that_applies(shop, git):
    plain = locate(shop, {})
    assert project_id(plain, given=None, strategy="remote") == "shop"
    git(shop, "remote", "add", "origin", "git@github.com:luxus/finalform.git")
    place = locate(shop, {})
    assert place.remote == "git@github.com:luxus/finalform.git"
    assert project_id(place, given=None, strategy="remote") == "github-com-luxus-finalform"
    assert project_id(place, given=None, strategy="basename") == "shop"
    assert project_id(place, given="My Id", strategy="remote") == "my-id"
