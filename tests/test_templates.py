"""The shipped templates, their variables and their documentation agree."""

from __future__ import annotations

import dataclasses
import re

import jinja2
import jinja2.meta
import pytest

from hindsight_core.prompt_check import check, sample, used_variables
from hindsight_core.prompt_contexts import STAGES
from hindsight_core.prompt_layers import SearchPath, packaged_root, stage_of
from hindsight_core.prompts import Prompts

SEARCH = SearchPath()
NAMES = SEARCH.packaged_names()
ROW = re.compile(r"^\| `([a-z_]+(?:/[a-z_.]+)+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|(.*)\|$", re.M)
README = {row[0]: row[1:] for row in ROW.findall((packaged_root() / "README.md").read_text())}


def partials() -> set[str]:
    environment = jinja2.Environment(autoescape=False)
    found: set[str] = set()
    for name in NAMES:
        source = SEARCH.find_packaged(name)
        assert source is not None
        found.update(
            filter(None, jinja2.meta.find_referenced_templates(environment.parse(source.read())))
        )
    return found


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_has_a_template_and_uses_its_variables_only(stage):
    name = f"{stage}.j2"
    assert name in NAMES
    own = {field.name for field in dataclasses.fields(STAGES[stage])}
    for each in (name, f"{stage}.system.j2"):
        assert used_variables(SEARCH.find_packaged, each) <= own


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_renders_without_a_problem(stage):
    prompts = Prompts()
    rendered = prompts.render(stage, sample(STAGES[stage]))
    assert rendered.text
    assert prompts.problems == []


@pytest.mark.parametrize("name", NAMES)
def test_every_template_is_of_a_stage_or_included_by_one(name):
    assert stage_of(name) in STAGES or name in partials()


def test_the_readme_has_every_stage_and_nothing_else():
    assert sorted(README) == sorted(STAGES)


@pytest.mark.parametrize("stage", STAGES)
def test_the_readme_names_the_variables(stage):
    purpose, variables, users, _ = README[stage]
    written = re.findall(r"`(\w+)`(\\\*)?", variables)
    fields = dataclasses.fields(STAGES[stage])
    assert {name for name, _ in written} == {field.name for field in fields}
    by_id = {field.name for field in fields if field.metadata.get("lines") == "ids"}
    assert {name for name, star in written if star} == by_id
    assert purpose.strip() and users.strip()


@pytest.mark.parametrize(
    "stage", [s for s in STAGES if (packaged_root() / f"{s}.system.j2").exists()]
)
def test_the_readme_says_what_a_model_must_answer(stage):
    assert README[stage][3].strip()


def test_packaged_templates_pass_their_own_check():
    assert check(SEARCH) == []
