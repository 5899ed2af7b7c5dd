"""Several processes on one store."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing

import pytest

FILES = ("queue.db", "state.db", "shop.db")


def finish(process, timeout=60) -> list[str]:
    said, _ = process.communicate(timeout=timeout)
    return said.splitlines()


def sound(home) -> list[str]:
    found = []
    for file in FILES:
        with closing(sqlite3.connect(home / file)) as connection:
            found.append(connection.execute("PRAGMA integrity_check").fetchone()[0])
    return found


def held(home) -> list[str]:
    with closing(sqlite3.connect(home / "shop.db")) as connection:
        texts = [row[0] for row in connection.execute("SELECT text FROM documents")]
    return [key for text in texts for key in re.findall(r"fact of (\S+)", text)]


def everything(*sessions: str, entries: int) -> list[str]:
    return sorted(f"{s}.{i:05d}" for s in sessions for i in range(1, entries + 1))


@pytest.mark.spec("br/BR-10", "br/BR-14")
def test_a_fresh_store_opened_by_sixteen_at_once(tmp_path, worker):
    processes = [worker(tmp_path, "open") for _ in range(16)]
    assert [finish(process)[-1:] for process in processes] == [["END"]] * 16
    assert sound(tmp_path) == ["ok"] * 3
    assert [p.name for p in tmp_path.iterdir() if ".corrupt" in p.name] == []


@pytest.mark.spec("br/BR-10", "br/BR-14")
def test_sessions_side_by_side_while_the_files_are_locked(tmp_path, worker):
    assert finish(worker(tmp_path, "open")) == ["END"]
    holders = [worker(tmp_path, "hold", 1.5, tmp_path / file) for file in FILES]
    for holder in holders:
        assert holder.stdout.readline() == "HELD\n"
    names = [f"s{n}" for n in range(5)]
    writers = [worker(tmp_path, "write", name, "--entries", 20) for name in names]
    for writer in writers:
        lines = finish(writer)
        assert lines[-1] == "END", lines
    assert finish(worker(tmp_path, "recover"))[-1] == "LEFT 0 0 0 0"
    assert sorted(held(tmp_path)) == everything(*names, entries=20)
    assert sound(tmp_path) == ["ok"] * 3


@pytest.mark.spec("br/BR-37")
def test_what_a_killed_holder_had_claimed_is_free_at_once(tmp_path, worker):
    for statement in (40, 80, 120):
        process = worker(tmp_path, "write", "s1", "--die-at", statement)
        finish(process)
        assert process.returncode == -9
    starters = [worker(tmp_path, "write", name, "--entries", 10) for name in ("s2", "s3")]
    for starter in starters:
        assert finish(starter, timeout=15)[-1] == "END"
    assert finish(worker(tmp_path, "recover"), timeout=15)[-1] == "LEFT 0 0 0 0"
    keys = held(tmp_path)
    assert len(keys) == len(set(keys))
    assert set(everything("s2", "s3", entries=10)) <= set(keys)


def test_one_session_in_two_processes_overlaps_nowhere(tmp_path, worker):
    twins = [worker(tmp_path, "write", "s1", "--entries", 40) for _ in range(2)]
    for twin in twins:
        assert finish(twin)[-1] == "END"
    assert finish(worker(tmp_path, "recover"))[-1] == "LEFT 0 0 0 0"
    assert sorted(held(tmp_path)) == everything("s1", entries=40)
