from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from hindsight_core.banks.sqlite import SqliteBank, bank_path
from hindsight_core.cli.entry import run
from hindsight_core.memory import Document, Fact
from hindsight_core.state.owner import Owner
from hindsight_core.state.queue import Queue


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path(os.environ["HINDSIGHT_MEM_HOME"])


@pytest.fixture
def say(capsys):
    """Run a command; its exit code, its JSON (or text) and what it said on stderr."""

    def run_it(*arguments: str):
        code = run(["queue", *arguments])
        out, err = capsys.readouterr()
        return code, json.loads(out) if "--json" in arguments and out else out, err

    return run_it


def fill(home: Path, *, waiting=(), dead=(), bank="shop") -> None:
    async def work() -> None:
        queue = Queue(home / "queue.db")
        for key in dead:
            await queue.enqueue(bank, Document(key, "the secret text"))
            job = await queue.claim(bank, Owner.here())
            await queue.fail(job, "422: too large", retryable=False)
        for key in waiting:
            facts = (Fact(key, f"fact {key}"),)
            await queue.enqueue(bank, Document(key, "the secret text", facts=facts))
        queue.close()

    asyncio.run(work())


def test_list_shows_what_waits_and_why_but_no_text(home, say):
    fill(home, waiting=["w1"], dead=["d1"])
    code, data, _ = say("list", "--json")
    assert code == 0
    assert [(j["document_id"], j["state"], j["reason"]) for j in data["jobs"]] == [
        ("d1", "dead", "422: too large"),
        ("w1", "pending", None),
    ]
    assert (data["pending"], data["dead"], data["total"]) == (1, 1, 2)
    _, text, _ = say("list")
    assert "d1" in text
    assert "422: too large" in text
    assert "secret" not in text + json.dumps(data)
    assert say("list", "--dead", "--json")[1]["jobs"] == data["jobs"][:1]
    assert say("list", "--bank", "other", "--json")[1]["jobs"] == []


def test_flush_delivers_to_the_bank(home, say):
    fill(home, waiting=["w1", "w2"])
    code, data, _ = say("flush", "--bank", "shop", "--json")
    assert (code, data["sent"], data["pending"]) == (0, 2, 0)

    async def facts() -> int:
        bank = SqliteBank("shop", bank_path(home / "banks", "shop"))
        found = (await bank.stats()).facts
        await bank.close()
        return found

    assert asyncio.run(facts()) == 2


def test_flush_delivers_to_the_personal_bank_too(home, say, monkeypatch):
    monkeypatch.setenv("HINDSIGHT_MEM_BANK__ID", "shop")
    monkeypatch.setenv("HINDSIGHT_MEM_BANK__USER_ID", "me")
    fill(home, waiting=["w1"])
    fill(home, waiting=["u1"], bank="me")
    code, data, _ = say("flush", "--json")
    assert (code, data["bank"], data["sent"], data["pending"]) == (0, "shop", 2, 0)
    fill(home, waiting=["w2"])
    fill(home, waiting=["u2"], bank="me")
    assert say("flush", "--bank", "me", "--json")[1]["sent"] == 1
    assert [j["document_id"] for j in say("list", "--json")[1]["jobs"]] == ["w2"]


def test_flush_says_pending_and_fails_when_the_bank_does(home, say):
    fill(home, waiting=["w1"])
    bank_path(home / "banks", "shop").mkdir(parents=True)
    code, data, error = say("flush", "--bank", "shop", "--json")
    assert (code, data["sent"], data["pending"]) == (1, 0, 1)
    assert "stays on disk" in error


def test_retry_gives_dead_letters_another_chance(home, say):
    fill(home, dead=["d1", "d2"])
    first = say("list", "--json")[1]["jobs"][0]["id"]
    assert say("retry", str(first), "--json")[:2] == (0, {"retried": 1})
    assert say("flush", "--bank", "shop", "--json")[1]["sent"] == 1
    code, _, error = say("retry", "999")
    assert code == 2
    assert "999" in error


def test_purge_asks_or_needs_yes(home, say):
    fill(home, waiting=["w1"], dead=["d1"])
    code, _, error = say("purge", "--json")
    assert code == 2
    assert "--yes" in error
    assert say("purge", "--yes", "--json")[:2] == (0, {"purged": 1})
    assert say("purge", "--yes", "--pending", "--json")[1] == {"purged": 1}
    assert say("list", "--json")[1]["total"] == 0


def test_show_is_the_one_place_with_its_text(home, say):
    fill(home, dead=["d1"])
    job = say("list", "--json")[1]["jobs"][0]["id"]
    code, data, _ = say("show", str(job), "--json")
    assert (code, data["state"], data["reason"]) == (0, "dead", "422: too large")
    assert data["document"]["text"] == "the secret text"
    assert "the secret text" in say("show", str(job))[1]
    assert say("show", "999")[0] == 2


def test_receipts_are_newest_first_without_text(home, say):
    fill(home, waiting=["w1", "w2"])
    assert "nothing was stored" in say("receipts")[1]
    say("flush", "--bank", "shop", "--json")
    _, data, _ = say("receipts", "--json")
    assert {row["document_id"] for row in data["receipts"]} == {"w1", "w2"}
    assert [row["facts"] for row in data["receipts"]] == [1, 1]
    assert say("receipts", "--limit", "1", "--json")[1]["receipts"] == data["receipts"][:1]
    assert say("receipts", "--bank", "other", "--json")[1] == {"receipts": []}
    assert "fact w1" not in json.dumps(data) + say("receipts")[1]
