"""The notice after something was memorized: a headline and a few subjects."""

from __future__ import annotations

import unicodedata

import pytest

from hindsight_core.engine.written import NOTHING, notice, told
from hindsight_core.memorize.report import MemorizeReport, Retired
from hindsight_core.memory import Fact

THREE = [
    "The cache is `Redis 7` on port 6380.",
    "**Deploys** on Fridays are banned.",
    "- The broker is RabbitMQ.",
]


def columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


@pytest.mark.spec("pi/M-25")
def test_a_headline_and_the_subjects_without_their_marks():
    assert notice(THREE).split("\n") == [
        "saved 1 note · 3 lines",
        "  · The cache is Redis 7 on port 6380.",
        "  · Deploys on Fridays are banned.",
        "  · The broker is RabbitMQ.",
    ]
    assert notice(THREE[:1]).split("\n")[0] == "saved 1 note · 1 line"


@pytest.mark.spec("pi/M-25")
def test_five_subjects_and_how_many_more():
    nine = [f"Fact number {number} of nine." for number in range(1, 10)]
    rows = notice(nine).split("\n")
    assert len(rows) == 7
    assert rows[-1] == "  · +4 more"
    assert "more" not in notice(nine[:5])


@pytest.mark.spec("pi/M-25")
def test_awkward_lines_are_no_subjects():
    awkward = [
        "\x1b[31mThe red service\x1b[0m listens on 7443.",
        "   ",
        "---",
        "x" * 200,
        "A\ttab and a \x07bell in it.",
        "ok",
        "The red service listens on 7443.",
    ]
    rows = notice(awkward).split("\n")
    assert rows[0] == "saved 1 note · 7 lines"
    assert rows[1] == "  · The red service listens on 7443."
    assert rows[2] == f"  · {'x' * 67}…"
    assert rows[3:] == ["  · A tab and a bell in it."]
    assert notice(["---", "***"]) == "saved 1 note · 2 lines"


@pytest.mark.spec("pi/M-25")
def test_long_subjects_are_cut_at_a_word_within_73_columns():
    long = "The orders service keeps its idempotency keys in Redis for a day, not in Postgres."
    (_, row) = notice([long]).split("\n")
    assert row.endswith("…")
    assert long.startswith(row[4:-1])
    assert long[len(row[4:-1])] == " "
    wide = "支付网关服务监听端口八四四三并且由运维团队每天检查一次日志和备份的完整性以及证书"
    for text in (notice([long]), notice([wide])):
        assert all(columns(line) <= 73 for line in text.split("\n"))
        assert not any(unicodedata.category(c) == "Cc" for c in text.replace("\n", ""))


def report(outcome="stored", *texts, retired=0, reason=None):
    return MemorizeReport(
        outcome,
        document_id="d",
        stored=tuple(Fact(text, text) for text in texts),
        retired=tuple(Retired(str(n), "old", "quote") for n in range(retired)),
        reason=reason,
    )


@pytest.mark.spec("pi/M-25", "pi/I-07")
def test_the_headline_counts_what_was_retired():
    assert told("compact", [report("stored", THREE[0], retired=2)]).split("\n")[0] == (
        "saved 1 note · 1 line · 2 facts retired"
    )
    assert (
        told("compact", [report("stored", THREE[0], retired=1)])
        .split("\n")[0]
        .endswith("· 1 fact retired")
    )
    assert told("compact", [report("known", retired=1)]) == "nothing new to save · 1 fact retired"


@pytest.mark.spec("pi/M-25", "pi/M-20")
def test_nothing_is_told_where_nobody_asked_and_trouble_is_told_elsewhere():
    assert told("compact", [report("empty", reason="nothing worth keeping in it")]) is None
    assert told("manual", [report("empty", reason="nothing worth keeping in it")]) == (
        "nothing saved: nothing worth keeping in it"
    )
    assert told("manual", []) == NOTHING
    assert told("shutdown:quit", [report("stored", THREE[0])]) is None
    assert told("manual", [report("failed", reason="down")]) is None


def test_several_windows_and_writes_that_wait():
    both = [report("stored", THREE[0]), report("stored", THREE[2])]
    assert told("manual", both).split("\n")[0] == "saved 2 notes · 2 lines"
    assert told("manual", [report("queued", THREE[0])]).split("\n")[0] == "queued 1 note · 1 line"
