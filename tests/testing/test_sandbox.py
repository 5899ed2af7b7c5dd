"""What a plugin author's tests are given."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from pydantic import BaseModel

from hindsight_core import hookimpl
from hindsight_core.errors import PluginError
from hindsight_core.testing import Memory


@pytest.fixture
def make(tmp_path):
    made = []

    def open_(*plugins, **options):
        made.append(Memory(tmp_path / str(len(made)), plugins=plugins, **options))
        return made[-1]

    yield open_
    for memory in made:
        memory.close()


class Section(BaseModel):
    word: str = "lunch"


class NoLunch:
    """A filter with a setting, a decision backend and a policy."""

    def __init__(self):
        self.word = None

    @hookimpl
    def hindsight_register_sections(self, register):
        register("no-lunch", Section)

    @hookimpl
    def hindsight_register_decision_backends(self, register):
        register("words", lambda settings, services: Backend(services.section))

    @hookimpl
    def hindsight_filter_hits(self, hits):
        return [hit for hit in hits if "lunch" not in hit.fact.text.lower()]

    @hookimpl
    def hindsight_decide(self, request):
        return dict.fromkeys(request.questions, False)


class Backend:
    def __init__(self, section):
        self.section = section

    async def answer(self, state, questions):
        return {question: self.section.word in state.last_user_message for question in questions}


def test_a_turn_shows_what_was_remembered(make):
    memory = make()
    assert memory.remember("The queue prefetch is 50").outcome == "stored"
    outcome = memory.turn("what is the queue prefetch?")
    assert "The queue prefetch is 50" in outcome.block.text
    assert memory.turn("which port does the shop use?").block is None
    assert [fact.text for fact in memory.facts()] == ["The queue prefetch is 50"]
    assert memory.search("prefetch")[0].fact.text == "The queue prefetch is 50"
    assert memory.problems == []


def test_a_session_is_memorized_and_follow_ups_know_what_was_said(make):
    memory = make()
    [report] = memory.session(
        "Remember that deploys run from the main branch only.", ("assistant", "Understood.")
    )
    assert [fact.text for fact in report.stored] == ["Deploys run from the main branch only"]
    outcome = memory.turn("and why?", before=["From which branch do deploys run?"])
    assert "main branch only" in outcome.block.text


def test_a_given_plugin_is_asked_with_its_settings(make):
    memory = make(NoLunch, settings={"plugins": {"no-lunch": {"word": "pizza"}}})
    memory.remember("The lunch queue opens at noon")
    memory.remember("The queue prefetch is 50")
    assert "noon" not in memory.turn("when does the lunch queue open, and its prefetch?").block.text
    asked = {"inject": "Is memory needed?"}
    assert memory.decide("why pizza?", questions=asked) == {"inject": False}
    assert memory.decide("why pizza?", questions=asked, backend="words") == {"inject": True}
    assert memory.decide("why lunch?", questions=asked, backend="words") == {"inject": False}


def test_a_scripted_model_plans_and_judges(make):
    memory = make(
        replies={
            "recall/queries": {"queries": ["prefetch"]},
            "recall/judge": {"score": 90, "keep": [1]},
        }
    )
    memory.remember("The queue prefetch is 50")
    assert memory.turn("how many messages at once?").outcome == "injected"
    assert memory.model.stages == ["recall/queries", "recall/judge"]


def test_a_wrong_plugin_is_an_error_at_once(make):
    class Misspelt:
        @hookimpl
        def hindsight_filter_hit(self, hits):
            return hits

    with pytest.raises(PluginError, match="did you mean hindsight_filter_hits"):
        make(Misspelt)


SUITE = """
from hindsight_core import hookimpl


class Failing:
    @hookimpl
    def hindsight_filter_hits(self, hits):
        raise KeyError("gone")


def test_good(memory):
    memory.remember("The queue prefetch is 50")
    assert "50" in memory.turn("queue prefetch?").block.text


def test_failing(new_memory):
    memory = new_memory(Failing)
    memory.remember("The queue prefetch is 50")
    assert "50" in memory.turn("queue prefetch?").block.text


def test_failing_on_purpose(new_memory):
    memory = new_memory(Failing, strict=False)
    memory.remember("The queue prefetch is 50")
    memory.turn("queue prefetch?")
    assert "Failing" in memory.problems[0]
"""


def test_the_fixtures_fail_a_test_whose_plugin_failed(tmp_path):
    (tmp_path / "test_plugin.py").write_text(SUITE)
    command = [sys.executable, "-m", "pytest", "-p", "hindsight_core.testing.pytest_plugin"]
    done = subprocess.run(
        [*command, "-q", "-rA", "--strict-markers", "-p", "no:cacheprovider", "."],
        cwd=tmp_path, env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip
    assert "3 passed, 1 error" in done.stdout, done.stdout
    assert "ERROR test_plugin.py::test_failing - Failed: plugin Failing" in done.stdout


def test_the_pytest_plugin_imports_nothing_heavy():
    code = (
        "import sys, hindsight_core.testing.pytest_plugin\n"
        "print(sorted(m for m in sys.modules if m.startswith('hindsight_core')"
        " or m in ('httpx', 'jinja2', 'numpy', 'pydantic', 'rich', 'click')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=True
    )
    assert done.stdout.strip() == str(
        ["hindsight_core", "hindsight_core.testing", "hindsight_core.testing.pytest_plugin"]
    )
