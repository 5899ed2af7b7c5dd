"""``config`` and ``trust``, as a person types them."""

from __future__ import annotations

import errno
import json

import pytest

from hindsight_core.cli.entry import run
from hindsight_core.config import schema


@pytest.fixture
def here(world, monkeypatch):
    monkeypatch.chdir(world.project)
    monkeypatch.setenv("HINDSIGHT_MEM_HOME", str(world.memory))
    monkeypatch.setenv("HOME", str(world.home))
    return world


@pytest.fixture
def call(here, capsys):
    def run_and_read(*arguments: str) -> tuple[int, str, str]:
        code = run(list(arguments))
        out = capsys.readouterr()
        return code, out.out, out.err

    return run_and_read


@pytest.mark.spec("br/BR-55")
def test_show_prints_every_value_with_its_origin(here, call):
    file = here.own("[recall]\nmax_lines = 3\n")
    code, out, _ = call("config", "show", "--json", "--origin")
    table = json.loads(out)["settings"]
    assert code == 0
    assert table["recall.max_lines"] == {"value": 3, "origin": str(file)}
    assert table["recall.effort"] == {"value": "normal", "origin": "default"}
    assert set(schema.known_keys()) <= set(table)


def test_show_for_people_says_the_bank_and_what_is_wrong(here, call):
    here.own("[recall]\nmax_lnies = 3\n")
    code, out, _ = call("config", "show", "--origin", "recall.max_lines")
    assert code == 0
    assert "recall.max_lines = 8" in out and "(default)" in out
    assert "no bank is declared" in out and "did you mean recall.max_lines?" in out


@pytest.mark.spec("br/BR-55")
def test_check(here, call):
    assert call("config", "check")[0] == 0
    file = here.own("[recall]\nmax_lines = 'many'\n")
    code, out, _ = call("config", "check", "--json")
    assert code == 2
    (problem,) = json.loads(out)["problems"]
    assert str(file) in problem and "recall.max_lines" in problem and "many" in problem


@pytest.mark.spec("am/A-CFG-6")
def test_set_checks_first_and_writes_one_key(here, call):
    here.own("# mine\n[recall]\neffort = 'light'\n")
    assert call("config", "set", "recall.maxLines", "12")[0] == 0
    text = (here.memory / "config.toml").read_text()
    assert text == "# mine\n[recall]\neffort = 'light'\nmax_lines = 12\n"
    for key, value, expected in (
        ("recall.max_lines", "many", "a whole number"),
        ("consolidation.similarity_threshold", "1.1", "less than or equal to 1"),
        ("lifecycle.initial_confidence", "0.99", "<= maximum_confidence"),
        ("recall.max_lnies", "3", "did you mean recall.max_lines?"),
    ):
        code, _, err = call("config", "set", key, value)
        assert code == 2 and expected in err
    assert (here.memory / "config.toml").read_text() == text
    assert call("config", "set", "consolidation.similarity_threshold", "0.6")[0] == 0
    assert here.load().settings.consolidation.similarity_threshold == 0.6


def test_set_of_every_shape(here, call):
    for key, text, value in (
        ("recall.enabled", "off", False),
        ("models.recall_chain", "a/b, c/d", ("a/b", "c/d")),
        ("bank.paths", '{"/srv": "x"}', {"/srv": "x"}),
        ("memorize.language", "ru", "ru"),
        ("review.auto_approve_days", "0", 0),
    ):
        assert call("config", "set", key, text)[0] == 0
        section, _, name = key.partition(".")
        assert getattr(getattr(here.load().settings, section), name) == value
    assert call("config", "set", "prompts.recall/judge", "{{ request }}")[0] == 0
    assert here.load().settings.prompts == {"recall/judge": "{{ request }}"}


def test_a_secret_is_never_written_to_a_projects_file(here, call):
    code, _, err = call("config", "set", "--project", "hindsight.token", "x" * 9)
    assert code == 2 and "token_env" in err and "x" * 9 not in err
    assert not (here.project / ".hindsight").exists()
    code, out, _ = call("config", "set", "hindsight.token", "x" * 9)
    assert code == 0 and "x" * 9 not in out


def test_set_in_a_trusted_project_keeps_it_trusted(here, call):
    assert call("config", "set", "--project", "recall.max_lines", "3")[1].count("trust") >= 1
    assert here.load(trusted=None).settings.recall.max_lines == 8
    assert call("trust")[0] == 0
    assert here.load(trusted=None).settings.recall.max_lines == 3
    call("config", "set", "--project", "recall.max_lines", "4")
    assert here.load(trusted=None).settings.recall.max_lines == 4


def test_set_in_an_own_json_file(here, call):
    here.write(here.memory / "config.json", {"recall": {"maxQueries": 2}})
    assert call("config", "set", "recall.max_lines", "3")[0] == 0
    assert not (here.memory / "config.toml").exists()
    settings = here.load().settings.recall
    assert (settings.max_lines, settings.max_queries) == (3, 2)


def test_trust_names_what_acts(here, call):
    here.own_project("")
    code, out, _ = call("trust", "--json")
    assert code == 0
    assert json.loads(out) == {
        "project": str(here.project),
        "trusted": True,
        "files": [".hindsight/config.toml"],
    }
    assert str(here.project) in call("trust", "--list")[1]
    assert "not trusted any more" in call("trust", "--remove")[1]
    assert "was not trusted" in call("trust", "--remove", str(here.project))[1]


def test_trust_of_no_project(here, call):
    code, _, err = call("trust", str(here.home))
    assert code == 2 and "no project" in err
    assert not here.memory.exists()


@pytest.mark.parametrize("command", [("config", "set", "recall.max_lines", "4"), ("trust",)])
def test_a_full_disk_is_no_mistake_of_the_user(here, call, monkeypatch, command):
    here.own_project("")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    code, _, error = call(*command)
    assert code == 1
    assert "No space left" in error


@pytest.mark.parametrize(
    ("key", "known"),
    [("bank.backend", "sqlite"), ("models.provider", "openai"), ("embeddings.provider", "openai")],
)
def test_check_knows_what_can_be_named(here, call, key, known):
    section, name = key.split(".")
    here.own(f'[{section}]\n{name} = "nope"\n')
    code, out, _ = call("config", "check", "--json")
    assert code == 2
    (problem,) = json.loads(out)["problems"]
    assert problem.startswith(f"{key}: ") and "'nope'" in problem and known in problem


def test_a_model_provider_that_nobody_provides_is_said_at_work(here, call):
    here.own('[models]\nprovider = "nope"\n')
    assert "models.provider: no model provider named 'nope'" in call("facts", "list")[2]
