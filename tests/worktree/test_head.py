from __future__ import annotations

import os
import shutil
import subprocess
import time

import pytest

from hindsight_core.worktree.head import Head, made_at, read_head

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def git(tmp_path):
    env = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{
            f"GIT_{who}_{what}": "a@b"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }

    def run(*arguments, cwd=tmp_path / "shop"):
        cwd.mkdir(exist_ok=True)
        done = subprocess.run(
            ["git", *arguments], cwd=cwd, env=env, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    run("init", "-q", "-b", "main")
    return run


@needs_git
def test_what_git_says_is_read_without_git(git, tmp_path):
    shop = tmp_path / "shop"
    assert read_head(shop) == Head("main", None)
    git("commit", "-q", "--allow-empty", "-m", "one")
    commit = git("rev-parse", "HEAD")
    assert read_head(shop) == Head("main", commit)
    git("checkout", "-q", "-b", "feature/a")
    assert read_head(shop) == Head("feature/a", commit)
    git("pack-refs", "--all")
    assert read_head(shop) == Head("feature/a", commit)
    git("worktree", "add", "-q", "../other", "main")
    assert read_head(tmp_path / "other") == Head("main", commit)
    git("checkout", "-q", "--detach")
    assert read_head(shop) == Head(None, commit)
    assert abs(made_at(shop) - time.time()) < 60


@pytest.mark.parametrize(
    "head",
    [
        "",
        "nonsense",
        "ref: refs/heads/.invalid",
        "ref: ../../etc/passwd",
        "ref: refs/../../x",
        "\0",
    ],
)
def test_what_cannot_be_told_is_nothing(tmp_path, head):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_text(head)
    assert read_head(tmp_path) == Head()


def test_a_folder_without_git(tmp_path):
    assert read_head(tmp_path) == Head()
    assert made_at(tmp_path) == 0
    (tmp_path / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert read_head(tmp_path) == Head()
