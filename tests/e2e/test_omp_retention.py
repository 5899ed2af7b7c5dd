"""The real omp with profile s1enhanced: its transcript on a server, each turn once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from hindsight_core.testing.retain_server import RetainServer

pytestmark = pytest.mark.timeout(280)
BLOCK = "<hindsight-memory"


@pytest.fixture
def there(loopback: None) -> Iterator[RetainServer]:
    """A Hindsight server; it is down until it is started."""
    server = RetainServer()
    yield server
    server.stop()


@pytest.fixture
def enhanced(omp: Any, there: RetainServer) -> Any:
    """omp with memory installed under the profile, its bank on the server."""
    omp.mem("install", "omp")
    omp.env |= {
        "HINDSIGHT_MEM_PROFILE": "s1enhanced",
        "HINDSIGHT_MEM_BANK__BACKEND": "hindsight",
        "HINDSIGHT_MEM_HINDSIGHT__BASE_URL": there.url,
    }
    return omp


def say(rpc: Any, number: int) -> None:
    rpc.prompt(f"This is question {number}.")


def pending(omp: Any) -> int:
    counts: int = json.loads(omp.mem("queue", "list", "--json"))["pending"]
    return counts


def delivered(omp: Any) -> None:
    """All that waits is sent; what was interrupted is taken up by the next session."""
    for _ in range(3):
        rpc = omp.rpc().ready()
        rpc.prompt("Anything else?")
        assert rpc.close() == 0
        omp.mem("queue", "flush")
        if not pending(omp):
            return
    raise AssertionError("something still waits")


def written_at(omp: Any) -> dict[int, datetime]:
    """When each question was asked, by omp's own session files."""
    found = {}
    for file in omp.session_files():
        for line in file.read_text().splitlines():
            record = json.loads(line)
            asked = re.search(r"This is question (\d+)\.", json.dumps(record.get("message")))
            if asked and record["message"]["role"] == "user":
                found[int(asked[1])] = datetime.fromisoformat(record["timestamp"])
    return found


def by_document(there: RetainServer) -> set[frozenset[int]]:
    """Numbers of the questions that stand together in a document."""
    found: dict[str, set[int]] = {}
    for item in there.items:
        asked = {int(n) for n in re.findall(r"question (\d+)", item["content"])}
        found.setdefault(item["document_id"], set()).update(asked)
    return {frozenset(numbers) for numbers in found.values() if numbers}


@pytest.mark.spec("s1/S-RET-1", "s1/S-CUR-1", "s1/S-CUR-2", "s1/S-ID-5")
def test_each_turn_once_over_resume_branch_compaction_and_a_new_session(
    enhanced: Any, there: RetainServer
) -> None:
    there.start()
    rpc = enhanced.rpc().ready()
    say(rpc, 1)
    say(rpc, 2)
    messages = rpc.command(type="get_branch_messages")["data"]["messages"]
    assert rpc.command(type="branch", entryId=messages[-1]["entryId"])["success"] is True
    say(rpc, 3)
    assert rpc.close() == 0

    rpc = enhanced.rpc("--continue").ready()
    say(rpc, 4)
    rpc.command(type="compact")
    say(rpc, 5)
    assert rpc.command(type="new_session")["success"] is True
    say(rpc, 6)
    assert rpc.close() == 0
    delivered(enhanced)

    assert sorted(there.questions) == [1, 2, 3, 4, 5, 6]
    names = {item["document_id"] for item in there.items}
    assert {name.partition(":")[0] for name in names} == {"omp-session"}
    assert by_document(there) == {frozenset({1, 2}), frozenset({3, 4, 5}), frozenset({6})}
    assert BLOCK not in json.dumps(there.items)


@pytest.mark.spec("s1/S-CUR-1", "s1/S-ID-5")
def test_back_in_an_earlier_session_of_the_same_process(enhanced: Any, there: RetainServer) -> None:
    there.start()
    rpc = enhanced.rpc().ready()
    say(rpc, 1)
    (first,) = enhanced.session_files()
    assert rpc.command(type="new_session")["success"] is True
    say(rpc, 2)
    assert rpc.command(type="switch_session", sessionPath=str(first))["success"] is True
    say(rpc, 3)
    assert rpc.close() == 0
    delivered(enhanced)

    assert sorted(there.questions) == [1, 2, 3]
    assert by_document(there) == {frozenset({1, 3}), frozenset({2})}


@pytest.mark.spec("s1/S-RET-1", "s1/S-RET-9", "br/BR-11")
@pytest.mark.parametrize("moment", ["on its way", "its answer lost", "after the answer"])
def test_omp_killed_in_the_middle_loses_and_repeats_nothing(
    enhanced: Any, there: RetainServer, moment: str
) -> None:
    there.start()
    rpc = enhanced.rpc().ready()
    say(rpc, 1)
    killed = rpc.process

    def kill(body: str) -> None:
        if "question 2" in body:
            there.before = there.after = lambda body: None
            killed.kill()

    if moment == "after the answer":
        say(rpc, 2)
    else:
        setattr(there, "before" if moment == "on its way" else "after", kill)
        rpc.send(type="prompt", message="This is question 2.")
        killed.wait(timeout=60)
    rpc.kill()

    rpc = enhanced.rpc("--continue").ready()
    say(rpc, 3)
    assert rpc.close() == 0
    delivered(enhanced)

    assert there.questions == [1, 2, 3]


@pytest.mark.spec("br/BR-01", "br/BR-11", "s1/S-REC-9", "s1/S-Q-4")
def test_a_server_away_for_twenty_turns_gets_each_once_in_order_dated_right(
    enhanced: Any, there: RetainServer
) -> None:
    numbers = list(range(1, 21))
    rpc = enhanced.rpc().ready()
    for number in numbers:
        say(rpc, number)
    assert rpc.close() == 0
    told = [text for text in rpc.notices() if "slowly" not in text and "again" not in text]
    assert len(enhanced.server.conversation()) == 20
    assert there.items == []
    assert pending(enhanced) > 0

    there.start()
    delivered(enhanced)

    assert there.questions == numbers
    assert len([text for text in told if "away" in text]) == 1
    asked = written_at(enhanced)
    for text, stamp in there.said:
        found = re.search(r"question (\d+)", text)
        if found and stamp:
            apart = datetime.fromisoformat(stamp) - asked[int(found[1])]
            assert abs(apart.total_seconds()) < 1
    assert all(stamp for text, stamp in there.said if "question" in text)
