from __future__ import annotations

import json
import logging
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_core.memory import Fact, Hit
from hindsight_core.telemetry import ActivityLog
from hindsight_core.testing.clock import FakeClock

PROMPT = "where do we keep the deploy notes?"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def log(tmp_path: Path, clock: FakeClock) -> ActivityLog:
    return ActivityLog(tmp_path / "logs", include_text=True, clock=clock)


def lines(folder: Path) -> list[str]:
    return [line for p in sorted(folder.iterdir()) for line in p.read_text().splitlines()]


@pytest.mark.spec("pi/O-01")
def test_an_entry_has_time_type_and_fields(log: ActivityLog) -> None:
    log.write("error", stage="memorize/extract", error="model down")
    assert json.loads(lines(log.folder)[0]) == {
        "ts": "2025-01-15T12:00:00+00:00",
        "type": "error",
        "stage": "memorize/extract",
        "error": "model down",
    }


@pytest.mark.spec("pi/O-01")
def test_a_long_string_is_clipped(log: ActivityLog) -> None:
    log.write("recall", prompt="x" * 20_001, nested={"texts": ["y" * 30_000, "z" * 20_000]})
    entry = log.read()[0]
    assert len(entry["prompt"]) == 20_000
    assert [len(text) for text in entry["nested"]["texts"]] == [20_000, 20_000]


@pytest.mark.spec("pi/O-01")
def test_the_reader_gives_the_last_200_newest_first(log: ActivityLog) -> None:
    for number in range(205):
        log.write("recall", found=number)
    entries = log.read()
    assert [entry["found"] for entry in entries] == list(range(204, 4, -1))


@pytest.mark.spec("pi/D-23")
def test_a_malformed_line_hides_nothing(log: ActivityLog) -> None:
    log.write("recall", found=1)
    path = next(log.folder.iterdir())
    with path.open("ab") as file:
        file.write(b'{"ts": "cut\n[1, 2]\n\xff\xfe\n' + b"[" * 5000 + b"\n\n")
    log.write("recall", found=2)
    assert [entry["found"] for entry in log.read()] == [2, 1]
    assert log.malformed == 4


def test_text_stays_out_unless_asked_for(tmp_path: Path, clock: FakeClock) -> None:
    log = ActivityLog(tmp_path / "logs", clock=clock)
    hit = Hit(fact=Fact(id="f1", text="the deploy notes are in ops.md"), bank="shop", score=0.5)
    log.write("recall", query=PROMPT, session="S1", outcome="injected", hits=[hit], facts=[PROMPT])
    raw = "\n".join(lines(log.folder))
    assert "deploy notes" not in raw
    entry = log.read()[0]
    assert (entry["session"], entry["outcome"]) == ("S1", "injected")
    assert entry["query"]["characters"] == len(PROMPT)
    assert entry["facts"] == [entry["query"]]
    assert entry["hits"][0]["fact"]["id"] == "f1"
    assert entry["hits"][0]["score"] == 0.5


def test_files_are_private(log: ActivityLog) -> None:
    old = os.umask(0)
    try:
        log.write("recall", found=1)
    finally:
        os.umask(old)
    assert log.folder.stat().st_mode & 0o777 == 0o700
    assert next(log.folder.iterdir()).stat().st_mode & 0o777 == 0o600


def test_a_file_a_day_for_thirty_days(log: ActivityLog, clock: FakeClock) -> None:
    (log.folder).mkdir()
    kept = log.folder / "notes.txt"
    kept.write_text("not ours")
    log.write("recall", found=1)
    clock.advance(days=1)
    log.write("recall", found=2)
    assert [e["found"] for e in log.read()] == [2, 1]
    clock.advance(days=29)
    log.write("recall", found=3)
    assert [e["found"] for e in log.read()] == [3, 2, 1]
    clock.advance(days=1)
    log.write("recall", found=4)
    assert [e["found"] for e in log.read()] == [4, 3, 2]
    assert kept.exists()


def test_a_full_file_is_followed_by_another(
    log: ActivityLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindsight_core.telemetry.MAX_FILE_BYTES", 200)
    for number in range(12):
        log.write("recall", found=number)
    assert len(list(log.folder.iterdir())) > 2
    assert [e["found"] for e in log.read()] == list(range(11, -1, -1))


def test_filters(log: ActivityLog) -> None:
    log.write("recall", turn="t1")
    log.write("retain", turn="t1")
    log.write("recall", turn="t2")
    assert [e["turn"] for e in log.read(type="recall")] == ["t2", "t1"]
    assert [e["type"] for e in log.read(where=lambda e: e["turn"] == "t1")] == ["retain", "recall"]
    assert len(log.read(1)) == 1


def test_switched_off_it_writes_nothing(tmp_path: Path) -> None:
    log = ActivityLog(tmp_path / "logs", enabled=False)
    log.write("recall", found=1)
    assert not log.folder.exists()
    assert log.read() == []


def test_it_never_raises_and_complains_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "logs").write_text("a file where the folder should be")
    log = ActivityLog(tmp_path / "logs")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            log.write("recall", found=1)
    assert [record.message.count("cannot be written") for record in caplog.records] == [1]
    assert log.read() == []


def test_writers_do_not_mix(log: ActivityLog) -> None:
    def write(name: str) -> None:
        for number in range(100):
            log.write("recall", turn=f"{name}{number}", text="x" * 3000)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({entry["turn"] for entry in log.read(1000)}) == 400
    assert log.malformed == 0


JSON_LIKE = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.floats(),
        st.integers(),
        st.text(),
        st.just("\ud800"),
        st.binary(max_size=5),
        st.just(datetime(2025, 1, 1, tzinfo=UTC)),
        st.just(ValueError("x")),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(fields=st.dictionaries(st.sampled_from(["a", "text", "hits", "reason"]), JSON_LIKE))
def test_whatever_is_logged_can_be_read(
    fields: dict[str, object], tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = ActivityLog(tmp_path_factory.mktemp("logs"), include_text=True)
    log.write("recall", **fields)
    assert [entry["type"] for entry in log.read()] == ["recall"]
    assert log.malformed == 0


def test_the_oldest_files_go_when_there_are_too_many(log: ActivityLog, clock: FakeClock) -> None:
    for _ in range(4):
        log.write("recall", found=1)
        clock.advance(days=1)
    for path in log.folder.iterdir():
        os.truncate(path, 30_000_000)  # sparse: it takes no space
    log.write("recall", found=2)
    names = sorted(path.name for path in log.folder.iterdir())
    assert [name[9:19] for name in names] == ["2025-01-17", "2025-01-18", "2025-01-19"]
    assert log.read(1)[0]["found"] == 2
