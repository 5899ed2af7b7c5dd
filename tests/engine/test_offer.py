"""A cold repository: its history is offered once, and never read unasked."""

from __future__ import annotations

import pytest

from hindsight_core.engine.notices import Notices
from hindsight_core.engine.offer import OFFER, has_commits, offer_history

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def commit(memory, *, form: str = "loose") -> None:
    """The project's repository has a commit, as far as its files tell."""
    git = memory.runtime.loaded.project.root / ".git"
    git.mkdir(exist_ok=True)
    head = f"{COMMIT}\n" if form == "detached" else "ref: refs/heads/main\n"
    (git / "HEAD").write_text(head)
    if form == "loose":
        (git / "refs/heads").mkdir(parents=True)
        (git / "refs/heads/main").write_text(f"{COMMIT}\n")
    if form == "packed":
        (git / "packed-refs").write_text(f"# pack-refs\n{COMMIT} refs/heads/main\n")


def told(memory) -> list[str]:
    """What a session's beginning tells of it."""
    said: list[str] = []
    memory.run(offer_history(memory.runtime, Notices(lambda _, text: said.append(text))))
    return said


@pytest.mark.parametrize("form", ["loose", "packed", "detached"])
def test_it_is_offered_once(memory, form):
    commit(memory, form=form)
    assert told(memory) == [OFFER]
    assert told(memory) == []
    assert memory.facts() == []


def test_a_bank_that_holds_something_is_not_cold(memory):
    commit(memory)
    memory.remember("The API gateway listens on port 8443 behind nginx.")
    assert told(memory) == []


def test_a_repository_without_a_commit_has_no_history(memory):
    commit(memory, form="none")
    assert told(memory) == []
    commit(memory)
    assert told(memory) == [OFFER]


def test_where_nothing_may_be_written_nothing_is_offered(new_memory):
    memory = new_memory(settings={"bank": {"read_only": True}})
    commit(memory)
    assert told(memory) == []


def test_a_folder_without_git_has_none(tmp_path):
    assert not has_commits(tmp_path)
