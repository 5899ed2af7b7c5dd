from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from hindsight_core.errors import PromptError
from hindsight_core.prompt_contexts import Dedup, Extract, Invalidate, Repair, Summary
from hindsight_core.prompt_contexts_recall import RecallJudge, RecallQueries
from hindsight_core.prompt_fields import CategoryText, FactLine
from hindsight_core.prompt_layers import TemplateDir, packaged_root
from hindsight_core.prompts import Prompts

FACTS = (FactLine("Use make", id="f1"), FactLine("Port is\n7443", id="f2"))
LOOP = "{% for a in range(9999) %}"
TREE = "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}"
JUDGE = RecallJudge(request="the request", query="the query", facts=FACTS)


@pytest.fixture
def write(tmp_path: Path):
    def run(name: str, text: str, *, layer: str = "user") -> Path:
        path = tmp_path / layer / f"{name}.j2"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return run


@pytest.fixture
def prompts(tmp_path: Path) -> Prompts:
    return Prompts(dirs=[tmp_path / "user"])


# -- where a template comes from ------------------------------------------------------------


def test_the_packaged_template_is_used_without_overrides():
    rendered = Prompts().render("recall/judge", JUDGE)
    assert Path(rendered.path) == packaged_root() / "recall/judge.j2"
    assert "the query" in rendered.text and "1. Use make" in rendered.text
    assert rendered.system and rendered.system.strip() == rendered.system


def test_each_layer_stands_before_the_next(write, tmp_path):
    layers = ["agent", "project", "config", "user", "plugin"]
    dirs = [TemplateDir(name, tmp_path / name) for name in layers if name != "config"]
    for layer in dirs:
        write("recall/judge", f"from {layer.origin}", layer=layer.origin)
    inline = {"recall/judge": "from config"}
    for layer in [*layers, "packaged"]:
        made = Prompts(dirs=dirs, inline=inline).render("recall/judge", JUDGE)
        assert made.text == f"from {layer}" or (layer == "packaged" and "Use make" in made.text)
        inline = {} if layer == "config" else inline
        (tmp_path / layer / "recall/judge.j2").unlink(missing_ok=True)


def test_the_order_of_folders_does_not_depend_on_how_they_are_given(write, tmp_path):
    dirs = [TemplateDir("user", tmp_path / "user"), TemplateDir("project", tmp_path / "project")]
    write("recall/judge", "user", layer="user")
    write("recall/judge", "project", layer="project")
    assert Prompts(dirs=dirs).render("recall/judge", JUDGE).text == "project"


def test_the_system_line_is_overridden_on_its_own(write, prompts):
    write("recall/judge.system", "Be brief.")
    rendered = prompts.render("recall/judge", JUDGE)
    assert rendered.system == "Be brief."
    assert Path(rendered.path) == packaged_root() / "recall/judge.j2"
    inline = Prompts(inline={"recall/judge.system": "Be briefer."})
    assert inline.render("recall/judge", JUDGE).system == "Be briefer."


def test_core_templates_are_packaged_only(write, tmp_path):
    write("core/repair", "ignore the form", layer="agent")
    prompts = Prompts(
        dirs=[TemplateDir("agent", tmp_path / "agent")], inline={"core/repair": "ignore it"}
    )
    rendered = prompts.render("core/repair", Repair(answer="a", error="not JSON", form="F"))
    assert "not JSON" in rendered.text and "ignore" not in rendered.text


def test_an_override_may_include_packaged_and_own_partials(write, prompts):
    write("recall/judge", "{% include 'partials/mine.j2' %} and {% include 'core/open.j2' %}")
    write("partials/mine", "mine {{ query }}")
    write("core/open", "hijacked")
    text = prompts.render("recall/judge", JUDGE).text
    assert text.startswith("mine the query and") and "hijacked" not in text


@pytest.mark.parametrize("name", ["../secret", "/etc/hostname", "a/../../secret", "a\\b"])
def test_an_include_cannot_leave_the_search_path(write, prompts, tmp_path, name):
    (tmp_path / "secret.j2").write_text("secret")
    write("recall/judge", "{% include '" + name.replace("\\", "\\\\") + ".j2' %}")
    assert "Use make" in prompts.render("recall/judge", JUDGE).text
    assert "does not exist" in prompts.problems[0]


def test_a_changed_file_is_seen_at_the_next_turn(write, prompts):
    path = write("recall/judge", "first")
    assert prompts.render("recall/judge", JUDGE).text == "first"
    write("recall/judge", "second version")
    assert prompts.render("recall/judge", JUDGE).text == "second version"
    path.unlink()
    assert "Use make" in prompts.render("recall/judge", JUDGE).text


def test_an_unknown_stage_is_an_error_that_says_where_to_look(prompts):
    with pytest.raises(PromptError, match="prompts list") as caught:
        prompts.render("recall/jugde", JUDGE)
    assert caught.value.stage == "recall/jugde"


def test_a_stage_of_a_plugin_brings_its_own_variables(write, prompts):
    @dataclass
    class Weather:
        sky: str

    write("weather/report", "{{ sky }} {{ query }}")
    assert prompts.render("weather/report", Weather("blue")).text == "blue {{ query }}"
    write("weather/again", "{{ sky }}")
    assert prompts.render("weather/again", {"sky": "grey"}).text == "grey"


# -- values ---------------------------------------------------------------------------------


@pytest.mark.spec("br/BR-08")
def test_markup_in_values_is_printed_as_it_is(write, prompts):
    poison = "{{ config.__class__ }} {% for x in range(9**9) %}a{% endfor %} {# gone? #}"
    write("recall/judge", "{{ request }}|{{ facts }}|{% for f in facts %}{{ f.text }}{% endfor %}")
    facts = (FactLine(poison),)
    made = prompts.render("recall/judge", RecallJudge(request=poison, query="", facts=facts))
    assert made.text == f"{poison}|1. {poison}|{poison}"
    assert prompts.problems == []


def test_lists_print_one_item_a_line(write, prompts):
    write("recall/judge", "{{ facts }}")
    write("memorize/dedup", "{{ facts }}\n--\n{{ known }}")
    write("memorize/invalidate", "{{ facts }}")
    write("memorize/extract", "{{ categories }}")
    assert prompts.render("recall/judge", JUDGE).text == "1. Use make\n2. Port is 7443"
    dedup = prompts.render("memorize/dedup", Dedup(facts=FACTS, known=FACTS[:1])).text
    assert dedup == "1. Use make\n2. Port is 7443\n--\n1. Use make"
    retire = prompts.render("memorize/invalidate", Invalidate(transcript="", facts=FACTS)).text
    assert retire == "f1: Use make\nf2: Port is 7443"
    categories = (
        CategoryText("decision", "Decisions", "## Decisions", "what was decided"),
        CategoryText("chat", "Chat", "## Chat", "small talk", banned=True),
    )
    extract = Extract(transcript="", categories=categories, language="en")
    assert prompts.render("memorize/extract", extract).text == "decision: what was decided"


def test_camel_case_names_are_aliases(write, prompts):
    write("memorize/summary", "{{priorSummary}}|{{ prior_summary }}|{{facts}}")
    made = prompts.render("memorize/summary", Summary("before", (FactLine("x"),), "en"))
    assert made.text == "before|before|1. x"
    assert prompts.problems == []


def test_none_prints_nothing(write, prompts):
    write("recall/judge", "{% for f in facts %}<{{ f.date }}>{% endfor %}")
    assert prompts.render("recall/judge", JUDGE).text == "<><>"


# -- unknown variables ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    [
        "{{ name }}",
        "{{name}}",
        "{{ name | upper }}",
        "{{ name.first[0] }}",
        "{{ name(1) }}",
        "{{ query if name else request }}",
        "{{ the user's own words }}",
        "{{ näme }}",
        '{{ "a \\" quote" ~ name }}',
        "{{ name\n   }}",
        "{{ facts.nothing }}",
    ],
)
def test_an_unknown_variable_is_left_as_written(write, prompts, written):
    path = write("recall/judge", f"before {written} after\n\n{{{{ query }}}}")
    text = prompts.render("recall/judge", JUDGE).text
    assert text == f"before {written} after\n\nthe query"
    [problem] = prompts.problems
    assert problem.startswith(f"{path}, line 1") and "as written" in problem


def test_it_is_reported_once(write, prompts):
    write("recall/judge", "{{ nope }} {{ nope }}\n{{ nope }}")
    for _ in range(3):
        prompts.render("recall/judge", JUDGE)
    assert len(prompts.problems) == 1
    assert "'nope'" in prompts.problems[0] and "facts, query, request" in prompts.problems[0]


def test_lines_of_later_problems_are_right(write, prompts):
    path = write("recall/judge", "{{ one\n\n }}\n{{ two words }}\n{{ three }}")
    assert prompts.render("recall/judge", JUDGE).text.count("\n") == 4
    lines = sorted(p.removeprefix(f"{path}, line ")[0] for p in prompts.problems)
    assert lines == ["1", "4", "5"]


def test_names_that_the_template_itself_makes_are_known(write, prompts):
    write(
        "recall/judge",
        "{% set n = 2 %}{% macro m(a) %}{{ a }}{% endmacro %}"
        "{% for f in facts %}{{ loop.index }}{{ f.text }}{% endfor %}{{ n }}{{ m(query) }}",
    )
    assert prompts.render("recall/judge", JUDGE).text == "1Use make2Port is\n72the query".replace(
        "\n7", "\n7443"
    )
    assert prompts.problems == []


def test_a_variable_that_is_guarded_is_left_to_jinja(write, prompts):
    write("recall/judge", "{{ nope | default('x') }}{% if other is defined %}y{% endif %}")
    assert prompts.render("recall/judge", JUDGE).text == "x"
    assert prompts.problems == []


def test_an_unknown_name_in_a_statement_is_reported(write, prompts):
    write("recall/judge", "a{% if nope %}b{% endif %}{% for x in others %}c{% endfor %}")
    assert prompts.render("recall/judge", JUDGE).text == "a"
    assert len(prompts.problems) == 2


# -- templates that cannot be rendered ------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("ok\n{% if query %}", 2, "endif"),
        ("ok\n{{ query.__class__.__mro__ }}", 2, "__class__"),
        ("ok\n{{ ''|attr('__class__') }}", 2, "__class__"),
        ("{{ query + 1 }}", 1, "str"),
        (f"\n\n{LOOP}{LOOP}{{% endfor %}}{{% endfor %}}", 3, "steps"),
        ("{% for a in range(99999) %}{{ request * 99 }}{% endfor %}", 1, "writes more than"),
        ("{{ 'a' * 10 ** 9 }}", 1, "too large"),
        ("{{ 10 ** (10 ** 9) }}", 1, "too large"),
        ("{{ range(10 ** 8)|list|length }}", 1, "Range too big"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", 1, "calls itself"),
        (f"{TREE}{{{{ m(60) }}}}", 1, "steps"),
        ("{% include 'not/there.j2' %}", 1, "not/there.j2"),
    ],
)
def test_a_template_that_cannot_be_rendered_gives_way(write, prompts, text, line, why):
    path = write("recall/judge", text)
    made = prompts.render("recall/judge", JUDGE)
    assert Path(made.path) == packaged_root() / "recall/judge.j2"
    assert "1. Use make" in made.text
    [problem] = prompts.problems
    assert problem.startswith(f"{path}, line {line}: ")
    assert why in problem and "packaged recall/judge.j2 is used" in problem


def test_a_broken_system_line_gives_way_alone(write, prompts):
    write("recall/judge", "mine")
    write("recall/judge.system", "{% if %}")
    made = prompts.render("recall/judge", JUDGE)
    assert made.text == "mine"
    assert made.system == Prompts().render("recall/judge", JUDGE).system


@pytest.mark.parametrize(
    ("content", "why"), [(b"\xff\xfe\x00", "not UTF-8"), (b"x" * 300_000, "larger than 256 KiB")]
)
def test_a_file_that_is_no_template_gives_way(write, prompts, content, why):
    path = write("recall/judge", "")
    path.write_bytes(content)
    assert "Use make" in prompts.render("recall/judge", JUDGE).text
    assert str(path) in prompts.problems[0] and why in prompts.problems[0]


def test_a_file_that_may_not_be_read_gives_way(write, prompts):
    if os.geteuid() == 0:
        path = write("recall/judge", "")
        path.unlink()
        path.symlink_to("/proc/self/mem")
    else:
        path = write("recall/judge", "x")
        path.chmod(0)
    assert "Use make" in prompts.render("recall/judge", JUDGE).text


def test_an_inline_prompt_that_is_broken_names_its_key():
    prompts = Prompts(inline={"recall/judge": "a\n{% if %}"})
    assert "Use make" in prompts.render("recall/judge", JUDGE).text
    assert prompts.problems[0].startswith("prompts.recall/judge, line 2: ")


def test_a_stage_without_a_packaged_template_fails_as_an_error(write, prompts):
    write("weather/report", "{% if %}")
    with pytest.raises(PromptError, match=r"weather/report.*line 1"):
        prompts.render("weather/report", {"sky": "blue"})


def test_large_values_are_no_runaway(write, prompts):
    write("recall/queries", "{{ context }}{{ context }}")
    context = "x" * 2_000_000
    made = prompts.render("recall/queries", RecallQueries(request="r", context=context))
    assert len(made.text) == 4_000_000


# -- cost -----------------------------------------------------------------------------------


def test_jinja_is_imported_with_the_first_rendering():
    code = (
        "import sys; from hindsight_core.prompts import Prompts; p = Prompts();"
        "before = 'jinja2' in sys.modules;"
        "from hindsight_core.prompt_contexts import Wrapper;"
        "p.render('core/open', Wrapper('recall')); print(before, 'jinja2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
