"""``hindsight_status`` and ``hindsight_scope``: where memory stands, read-only (s1/S-TOOL-1)."""

from __future__ import annotations

from typing import Any

import pytest

TOKEN = "hsk-" + "c0ffee" * 6
PORT = "The gateway listens on port 8443."


@pytest.mark.spec("s1/S-TOOL-1")
def test_versions_health_identity_queue_and_configuration(served: Any, server: Any) -> None:
    agent = served(scope={"project_id": "shop"}, hindsight={"token": TOKEN})
    told = agent.told("status")
    reads = {method for method, _, _ in server.asked}

    assert told["version"]
    assert told["bank"]["server"] == "1.1.0" and "do" not in told["bank"]
    assert (told["bank"]["id"], told["bank"]["backend"]) == ("shop", "scripted")
    assert told["bank"]["health"] == "ok"
    assert told["session"] == {"id": "s1", "mode": "normal"}
    assert "project:shop" in told["project"]["tags"]
    assert told["queue"] == {
        "pending": 0, "dead": 0, "unreadable": 0, "lastError": None, "do": "nothing"
    }  # fmt: skip
    assert told["config"]["profile"] == "s1enhanced"
    assert told["config"]["token"] == "set"
    assert reads == {"GET"}


@pytest.mark.spec("s1/S-TOOL-1")
def test_the_token_is_only_told_to_be_set(served: Any) -> None:
    assert TOKEN not in served(hindsight={"token": TOKEN}).call("status")["content"]
    assert served().told("status")["config"]["token"] == "unset"


@pytest.mark.spec("s1/S-TOOL-1")
def test_an_old_server_is_told_to_be_upgraded(served: Any, server: Any) -> None:
    server.version = "0.7.2"
    assert "0.8" in served().told("status")["bank"]["do"]


@pytest.mark.spec("s1/S-TOOL-1")
def test_a_server_that_is_away_and_what_waits_for_it(served: Any, server: Any, clock: Any) -> None:
    agent = served()
    server.down = True
    agent.call("retain", content=PORT)
    told = agent.told("status")

    assert told["bank"]["health"] == "failed" and "doctor" in told["bank"]["do"]
    assert told["queue"]["pending"] == 1
    assert "sent when the bank answers" in told["queue"]["do"]
    assert "503" in told["queue"]["lastError"] or "maintenance" in told["queue"]["lastError"]


@pytest.mark.spec("s1/S-TOOL-1")
def test_dead_letters_come_with_what_to_do(agent: Any) -> None:
    made = agent()
    runtime = made.memory.runtime

    async def refuse(document: Any) -> Any:
        from hindsight_core.errors import BankError

        raise BankError("too large", retryable=False)

    runtime.bank.retain = refuse
    made.call("retain", content=PORT)
    told = made.told("status")["queue"]
    assert (told["dead"], told["lastError"]) == (1, "too large")
    assert "hindsight-mem queue" in told["do"]


@pytest.mark.spec("s1/S-TOOL-1")
def test_it_reads_neither_telemetry_nor_what_was_recalled(agent: Any) -> None:
    made = agent(log={"include_text": True})
    made.memory.remember(PORT)
    made.memory.turn("which port does the gateway listen on?")
    told = made.call("status")["content"]
    assert "8443" not in told and "which port" not in told


@pytest.mark.spec("s1/S-TOOL-2")
def test_the_scope_names_banks_conditions_and_tags(agent: Any) -> None:
    entries = [{"id": "team", "role": "team", "access": "read"}, {"id": "old", "enabled": False}]
    made = agent(bank={"entries": entries, "user_id": "me"}, scope={"project_id": "shop"})
    made.command("/hindsight:tag add urgent")
    told = made.told("scope")
    banks = {bank["id"]: bank for bank in told["banks"]}

    assert list(banks) == [made.memory.runtime.bank_id, "team", "me"]
    assert banks["team"]["access"] == "read"
    assert (banks["me"]["role"], banks["me"]["retain"]) == ("life", "explicit-only")
    assert banks["team"]["sees"]["tags"][0] == "project:shop"
    assert {"project:shop", "urgent", "harness:generic"} <= set(told["writes"])
    assert told["project"]["id"] == "shop"
