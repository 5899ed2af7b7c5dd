"""Lines that are no facts by their form."""

from __future__ import annotations

import pytest

from hindsight_core.memorize.scrub import scrub


@pytest.mark.spec("pi/M-15", "pi/D-22")
@pytest.mark.parametrize(
    "line",
    [
        "# Decisions",
        "### Facts",
        "**Know-how**",
        "Pitfalls:",
        "NONE",
        "none.",
        "- None",
        "n/a",
        "OK!",
        "Done.",
        "Thank you",
        "nothing to save",
        "спасибо",
        "好的",
        "Please run the tests again",
        "Send me the logs",
        "Run it and send the output",
        "Copy the output below",
        "Paste your logs here",
        "Can you check the port?",
        "Пришли логи",
        "Bitte die Tests laufen lassen",
        "I will add the tests",
        "Is the port 6379?",
        "Maybe the cache is stale",
        "Probably a race in the worker",
        "---",
        "- ***",
        "   ",
    ],
)
def test_what_goes(line):
    assert scrub(line) is None


@pytest.mark.spec("pi/M-15", "pi/D-22")
@pytest.mark.parametrize(
    "line",
    [
        "The agents send their logs to the collector on port 9000",
        "Never paste credentials into logs: the log viewer is public",
        "Run `make reindex` after copying the dump; it worked when /health says ready",
        "Copying a bank file while it is open corrupts it",
        "Done jobs are kept for 7 days",
        "No retries on payment captures",
        "None of the workers may write to the main table",
        "Yes/no questions are stored as booleans",
        "端口改为8443",
        "#general is the channel for incidents",
        "Thanks to the cache the page takes 80 ms",
    ],
)
def test_what_stays(line):
    assert scrub(line) == line


@pytest.mark.parametrize("mark", ["- ", "* ", "• ", "1. ", "12) "])
def test_list_marks_go_and_the_words_stay(mark):
    assert scrub(f"{mark}The port is  6379") == "The port is 6379"


@pytest.mark.spec("pi/M-15")
async def test_a_note_that_is_scrubbed_away_stores_nothing(kit, talk, script, answer):
    made = kit(script(extract=answer("# Decisions", "Done.", "Send me the logs")))
    talk.user("hello")
    assert (await made.one(talk)).outcome == "empty"
    assert await made.cursor() == "e01"
