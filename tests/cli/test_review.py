"""``hindsight-mem review`` and ``facts restore --entry``."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from hindsight_core.banks.sqlite import SqliteBank, bank_path
from hindsight_core.identity import fact_id
from hindsight_core.memory import Document, Fact
from hindsight_core.state.queue import Queue
from hindsight_core.state.review import ReviewQueue, Written
from hindsight_core.telemetry import ActivityLog

REDIS = "The cache of the shop is Redis 7 on port 6380."
BROKER = "The broker of the shop is RabbitMQ."


@pytest.fixture
def home() -> Path:
    return Path(os.environ["HINDSIGHT_MEM_HOME"])


@pytest.fixture
def wrote(home, mem):
    """Documents of banks that wait for a review."""

    def make(*documents: tuple[str, str, str]) -> None:
        async def work() -> None:
            queue = Queue(home / "queue.db")
            for bank_id, document_id, text in documents:
                bank = SqliteBank(bank_id, bank_path(home / "banks", bank_id))
                facts = (Fact(fact_id(text), text),)
                await bank.retain(Document(document_id, f"# Facts\n- {text}", facts=facts))
                await bank.close()
                await ReviewQueue(queue).add(
                    Written(bank_id, document_id, project=bank_id, reason="compact")
                )
            queue.close()

        asyncio.run(work())

    return make


def texts(mem, *options: str) -> list[str]:
    return [fact["text"] for fact in mem("facts", "list", "--json", *options).data["facts"]]


@pytest.mark.spec("pi/Q-06", "pi/Q-07")
def test_looking_and_deciding(mem, wrote):
    wrote(("shop", "d1", REDIS), ("site", "d2", BROKER))
    listed = mem("review", "list", "--json").data
    assert listed["total"] == 2
    assert [row["bank"] for row in listed["items"]] == ["site", "shop"]
    site, shop = (row["id"] for row in listed["items"])
    assert mem("review", "list", "--json", "--bank", "shop").data["total"] == 1
    said = mem("review", "list")
    assert f"{shop}  " in said.out
    assert f"1 fact(s) · compact  - {REDIS}" in said.out
    shown = mem("review", "show", shop, "--json").data
    assert (shown["document"], shown["text"]) == ("d1", f"# Facts\n- {REDIS}")
    assert [fact["text"] for fact in shown["facts"]] == [REDIS]

    assert mem("review", "approve", shop, "--json").data == {"approved": [shop], "kept": {}}
    assert mem("review", "delete", site, "--yes", "--json").data["deleted"] == [site]
    assert texts(mem, "--bank", "site") == []
    assert mem("review", "list", "--json").data["total"] == 0
    assert mem("review", "undo", "--json").data["undone"] == [site]
    assert texts(mem, "--bank", "site") == [BROKER]
    assert mem("review", "undo", "--json").data["undone"] == [shop]
    over = mem("review", "undo")
    assert (over.code, "no decision" in over.err) == (2, True)


@pytest.mark.spec("pi/Q-07")
def test_all_at_once(mem, wrote):
    wrote(("shop", "d1", REDIS), ("shop", "d2", BROKER), ("site", "d3", BROKER))
    assert (
        len(mem("review", "delete", "--all", "--yes", "--bank", "shop", "--json").data["deleted"])
        == 2
    )
    assert mem("review", "list", "--json").data["total"] == 1
    assert texts(mem, "--bank", "shop") == []
    mem("review", "undo")
    assert len(mem("review", "approve", "--all", "--json").data["approved"]) == 3


@pytest.mark.spec("pi/Q-07")
def test_editing(mem, wrote):
    wrote(("shop", "d1", REDIS))
    (row,) = mem("review", "list", "--json").data["items"]
    edited = mem("review", "edit", row["id"], "--text", f"- {BROKER}", "--json").data
    assert (edited["state"], edited["text"]) == ("pending", f"# Facts\n- {BROKER}")
    assert texts(mem, "--bank", "shop") == [BROKER]
    nothing = mem("review", "edit", row["id"], "--text", " ")
    assert (nothing.code, "review delete" in nothing.err) == (2, True)


def test_what_is_wrong_is_said(mem, wrote):
    wrote(("shop", "d1", REDIS))
    assert mem("review", "approve").code == 2
    assert mem("review", "approve", 1, "--all").code == 2
    assert "no entry 99" in mem("review", "approve", 99).err
    unasked = mem("review", "delete", 1)
    assert (unasked.code, "--yes" in unasked.err) == (2, True)
    assert texts(mem, "--bank", "shop") == [REDIS]


@pytest.mark.spec("pi/D-07")
def test_what_stays_is_a_failure_of_the_outside(mem, home):
    async def work() -> None:
        queue = Queue(home / "queue.db")
        where = "http://127.0.0.2:1/v1/default"
        await ReviewQueue(queue).add(Written("shop", "d1", backend="hindsight", endpoint=where))
        queue.close()

    asyncio.run(work())
    done = mem("review", "delete", "--all", "--yes", "--json")
    assert (done.code, done.data["deleted"]) == (1, [])
    assert "127.0.0.2" in done.err
    assert mem("review", "list", "--json").data["total"] == 1


@pytest.mark.spec("pi/I-09", "pi/I-07")
def test_all_facts_of_one_retirement_come_back(mem, home, wrote):
    wrote(("shop", "d1", REDIS), ("shop", "d2", BROKER), ("shop", "d3", "The site is static."))
    log = ActivityLog(home / "logs")
    kills = []
    for text in (REDIS, BROKER):
        mem("facts", "invalidate", fact_id(text), "--bank", "shop")
        kills.append({"id": fact_id(text), "text": text, "quote": "gone for good"})
    mem("facts", "invalidate", fact_id("The site is static."), "--bank", "shop")
    log.write("invalidate", bank="shop", id="id-1234", document="d9", kills=kills)
    before = next((home / "logs").glob("activity-*.jsonl")).read_bytes()

    back = mem("facts", "restore", "--entry", "id-12", "--json").data

    assert back == {
        "entry": "id-1234",
        "restored": [f"shop:{kill['id']}" for kill in kills],
        "total": 2,
    }
    assert sorted(texts(mem, "--bank", "shop")) == sorted([REDIS, BROKER])
    after = next((home / "logs").glob("activity-*.jsonl")).read_bytes()
    assert after.startswith(before)
    (entry,) = log.read(type="restore")
    assert (entry["entry_id"], [k["id"] for k in entry["kills"]]) == (
        "id-1234",
        [kill["id"] for kill in kills],
    )
    assert mem("facts", "restore", "--entry", "id-1234").out.strip() == "restored 2"


@pytest.mark.spec("pi/I-09")
def test_a_restore_stops_at_the_first_that_fails(mem, home, wrote):
    wrote(("shop", "d1", REDIS))
    mem("facts", "invalidate", fact_id(REDIS), "--bank", "shop")
    kills = [{"id": fact_id(REDIS)}, {"id": "missing"}, {"id": "never-tried"}]
    log = ActivityLog(home / "logs")
    log.write("invalidate", bank="shop", id="id-1", kills=kills)
    done = mem("facts", "restore", "--entry", "id-1")
    assert done.code == 1
    assert "restored 1/3 — " in done.out
    assert "missing" in done.err
    assert texts(mem, "--bank", "shop") == [REDIS]
    (entry,) = log.read(type="restore")
    assert [kill["id"] for kill in entry["kills"]] == [fact_id(REDIS)]


def test_restore_needs_facts_or_an_entry(mem):
    assert mem("facts", "restore").code == 2
    assert mem("facts", "restore", "f1", "--entry", "e").code == 2
    missing = mem("facts", "restore", "--entry", "id-nothing")
    assert (missing.code, "log --type invalidate" in missing.err) == (2, True)
