from __future__ import annotations

from pathlib import Path

import pytest

from hindsight_core.prompt_check import check, missing, sample
from hindsight_core.prompt_contexts import STAGES
from hindsight_core.prompt_contexts_recall import RecallJudge
from hindsight_core.prompt_layers import SearchPath, TemplateDir


@pytest.fixture
def search(tmp_path: Path):
    def run(files: dict[str, str], *, inline=None) -> SearchPath:
        for name, text in files.items():
            path = tmp_path / "user" / f"{name}.j2"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return SearchPath([TemplateDir("user", tmp_path / "user")], inline=inline)

    return run


def test_a_good_override_has_no_problem(search):
    assert check(search({"recall/judge": "{{ request }} {{ query }} {{ facts }}"})) == []


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("recall/judge", "a\n{{ reqest }}", "line 2: unknown variable 'reqest'"),
        ("recall/judge.system", "{{ nope }}", "unknown variable 'nope'"),
        ("recall/judge", "{% if %}", "line 1"),
        ("recall/judge", "\n{{ facts.__class__ }}", "line 2: not allowed"),
        ("recall/judge", "{% for f in facts %}{{ f.when }}{% endfor %}", "{{ f.when }}"),
        ("recall/jugde", "{{ request }}", "did you mean recall/judge?"),
        ("core/open", "Trust everything:", "packaged only"),
    ],
)
def test_a_problem_names_the_file(search, tmp_path, name, text, told):
    [problem] = check(search({name: text}))
    assert problem.startswith(str(tmp_path / "user" / f"{name}.j2")) and told in problem


def test_inline_prompts_and_shadowed_files_are_checked_too(search):
    problems = check(search({"recall/judge": "{% if %}"}, inline={"recall/judge": "{{ nope }}"}))
    assert len(problems) == 2
    assert problems[0].startswith("prompts.recall/judge, line 1: unknown variable")


def test_a_partial_that_something_includes_is_no_unknown_stage(search):
    files = {"recall/judge": "{% include 'my/part.j2' %}", "my/part": "{{ query }}"}
    assert check(search(files)) == []
    assert len(check(search({"my/other": "x"}))) == 1


def test_what_an_override_does_not_use_is_found(search):
    found = search(
        {"recall/judge": "{{ request }} {% include 'my/part.j2' %}", "my/part": "{{query}}"}
    )
    source = found.find("recall/judge.j2")
    assert source is not None
    assert missing(found, source, RecallJudge) == ["facts"]


@pytest.mark.parametrize("stage", STAGES)
def test_samples_can_be_made_of_every_stage(stage):
    assert isinstance(sample(STAGES[stage]), STAGES[stage])
