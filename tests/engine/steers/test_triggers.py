"""When a running loop is looked at."""

from __future__ import annotations

import pytest

from hindsight_core.config.settings.capture import Steer
from hindsight_core.engine.steers.triggers import News, PathWatch, Triggers
from hindsight_core.testing.transcripts import TranscriptBuilder
from hindsight_core.transcript.entry import Entry, Thinking


def triggers(**settings: int) -> Triggers:
    return Triggers(Steer.model_validate(settings))


@pytest.mark.spec("am/A-SCHED-1")
@pytest.mark.parametrize(
    ("news", "times"),
    [(News(turns=1), 2), (News(tool_results=1), 4), (News(thinking=400), 3), (News(turns=5), 1)],
)
def test_it_is_time_after_two_turns_four_tool_results_or_1200_characters_of_thinking(news, times):
    counted = triggers()
    assert [counted.due(news) for _ in range(times)] == [False] * (times - 1) + [True]


@pytest.mark.spec("am/A-SCHED-1")
def test_all_counters_begin_anew_when_one_is_reached():
    counted = triggers()
    assert not counted.due(News(turns=1, tool_results=3))
    assert counted.due(News(tool_results=1))
    assert not counted.due(News(turns=1))
    assert counted.due(News(turns=1))


@pytest.mark.spec("am/A-SCHED-1")
def test_only_what_is_new_on_the_path_counts():
    talk, watch = TranscriptBuilder(), PathWatch()
    talk.user("go")
    talk.assistant("first")
    assert watch.news(talk.entries) == News()

    talk.assistant("second", thinking="hm" * 5, calls=[talk.call("bash", command="ls")])
    talk.result("a")
    talk.result("b")
    assert watch.news(talk.entries) == News(turns=1, tool_results=2, thinking=10)
    assert watch.news(talk.entries) == News()


def test_a_path_that_begins_while_it_is_watched_counts_whole():
    talk, watch = TranscriptBuilder(), PathWatch()
    assert watch.news(()) == News()
    talk.user("go")
    talk.assistant("first")
    assert watch.news(talk.entries) == News(turns=1)


def test_another_branch_is_no_news():
    talk, watch = TranscriptBuilder(), PathWatch()
    talk.user("go")
    watch.news(talk.entries)
    other = TranscriptBuilder("s2")
    other.entries = [Entry("x1", "user"), Entry("x2", "assistant")]
    assert watch.news(other.entries) == News()


@pytest.mark.spec("am/A-SCHED-1")
def test_thinking_counts_while_it_is_written_and_only_once():
    talk, watch = TranscriptBuilder(), PathWatch()
    talk.user("go")
    watch.news(talk.entries)

    def partial(length: int) -> Entry:
        return Entry("partial", "assistant", (Thinking("x" * length),))

    assert watch.news(talk.entries, partial=partial(700)).thinking == 700
    assert watch.news(talk.entries, partial=partial(1300)).thinking == 600
    talk.assistant("done", thinking="x" * 1400)
    assert watch.news(talk.entries) == News(turns=1, thinking=100)
    talk.assistant("more", thinking="x" * 50)
    assert watch.news(talk.entries).thinking == 50
