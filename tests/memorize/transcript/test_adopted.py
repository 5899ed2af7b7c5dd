"""Sessions that another plugin has retained in part go on where it stood."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.errors import StorageError
from hindsight_core.memorize.transcript.adopted import FILE, cursor_of, retained_ids

SESSION = "/home/me/.pi/agent/sessions/shop/1.jsonl"
KEY = hashlib.sha256(SESSION.encode()).hexdigest()[:16]


def keep(folder: Path, data: object, *, under: str = ".pi") -> None:
    path = folder / under / FILE
    path.parent.mkdir(parents=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data))


def version_3(ids: list[str], *, index: int | None = None) -> dict[str, Any]:
    marks = {"chainHash": "x", "idChainHash": "x", "tailStart": 0, "fingerprints": ["f"] * len(ids)}
    held = {"index": len(ids) - 1 if index is None else index, "messageIds": ids, **marks}
    return {"version": 3, "sessions": {KEY: held}}


@pytest.mark.spec("s1/S-CUR-4")
@pytest.mark.parametrize(
    "data",
    [
        {"version": 1, "sessions": {KEY: {"fingerprints": ["f1", "f2", "f3", "f4"]}}},
        {"sessions": {KEY: ["f1", "f2", "f3", "f4"]}},
        {"version": 2, "sessions": {KEY: {"messageIds": ["e01", "e02", "e03", "e04"]}}},
        version_3(["e01", "e02", "e03", "e04"]),
        version_3(["e03", "e04"], index=3),
        version_3(["other-1", "other-2"], index=3),
    ],
    ids=["v1", "v1-list", "v2", "v3", "v3-tail", "v3-other-ids"],
)
async def test_no_burst_and_the_rest_is_sent(
    sender: Any, server: Any, spoken: Any, tmp_path: Path, data: object
) -> None:
    keep(tmp_path, data)
    talk, kit = spoken(2), sender(bank=server)
    cursor = cursor_of(SESSION, tmp_path)
    assert cursor is not None
    await kit.memorizer.adopt(talk.transcript(), cursor)
    assert await kit.remember(talk) == []
    await kit.remember(spoken(1, talk=talk))

    assert [document.text for document in server.got] == ["User: question 3\n\nAssistant: answer 3"]


@pytest.mark.spec("s1/S-CUR-4")
async def test_a_long_session_of_which_only_the_tail_is_known(
    sender: Any, server: Any, spoken: Any
) -> None:
    talk, kit = spoken(300), sender(bank=server)
    tail = [entry.id for entry in talk.path[-202:-2]]
    await kit.memorizer.adopt(talk.transcript(), {"index": 597, "messageIds": tail})
    await kit.remember(talk)
    assert [document.text.count("question") for document in server.got] == [1]


async def test_what_we_have_begun_ourselves_counts(sender: Any, server: Any, spoken: Any) -> None:
    talk, kit = spoken(1), sender(bank=server)
    await kit.remember(talk)
    spoken(2, talk=talk)
    await kit.memorizer.adopt(talk.transcript(), {"messageIds": [talk.path[-1].id]})
    await kit.remember(talk)
    assert sum(document.text.count("question") for document in server.got) == 3


@pytest.mark.parametrize("data", [{}, {"sessions": {}}, {"sessions": {"other": []}}, []])
def test_nothing_is_known_of_the_session(tmp_path: Path, data: object) -> None:
    keep(tmp_path, data, under=".omp")
    assert cursor_of(SESSION, tmp_path) is None


def test_without_a_file_there_is_nothing_to_adopt(tmp_path: Path) -> None:
    assert cursor_of(SESSION, tmp_path) is None


@pytest.mark.spec("s1/S-CUR-5")
def test_a_broken_file_is_no_empty_one(tmp_path: Path) -> None:
    keep(tmp_path, '{"version": 3, "sess')
    with pytest.raises(StorageError, match="cannot be read"):
        cursor_of(SESSION, tmp_path)


@pytest.mark.parametrize(
    "cursor",
    [{}, {"index": -1}, {"index": True}, {"messageIds": "e01"}, {"messageIds": [1], "index": "2"}],
)
def test_nonsense_adopts_nothing(spoken: Any, cursor: dict[str, Any]) -> None:
    assert retained_ids(cursor, spoken(2).path) == ()
