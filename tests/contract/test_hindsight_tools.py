"""The agent's tools over a real Hindsight server."""

from __future__ import annotations

import json
import uuid
from typing import Any

import httpx
import pytest

from hindsight_core.engine import explicit
from hindsight_core.testing.session import live_session

pytestmark = [pytest.mark.server, pytest.mark.timeout(180), pytest.mark.usefixtures("loopback")]
PORT = "The gateway of the shop listens on port 8443"
BROKER = "The broker of the shop is RabbitMQ"


class Agent:
    """Calls tools in a live session under profile s1enhanced."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.live = live_session(memory.runtime, session_id="s1")

    def call(self, name: str, /, **arguments: object) -> dict[str, Any]:
        params = {"name": f"hindsight_{name}", "arguments": arguments}
        result = self.memory.run(explicit.tool(self.live, params, why_off=""))
        return result

    def done(self, name: str, /, **arguments: object) -> dict[str, Any]:
        """A call that must not fail."""
        result = self.call(name, **arguments)
        assert result["isError"] is False, result
        return result

    def told(self, name: str, /, **arguments: object) -> Any:
        return json.loads(self.done(name, **arguments)["content"])

    def found(self, **arguments: object) -> set[str]:
        hits = self.done("recall", query="gateway broker shop", **arguments)["details"]["hits"]
        return {hit["text"] for hit in hits}


@pytest.fixture
def agent(hindsight_url: str, new_memory: Any) -> Any:
    bank = f"t-{uuid.uuid4().hex[:8]}"
    settings = {
        "profile": "s1enhanced",
        "bank": {"id": bank, "backend": "hindsight", "user_id": f"{bank}-me"},
        "hindsight": {"base_url": hindsight_url},
        "scope": {"project_id": "shop"},
        "recall": {"types": []},
    }
    with httpx.Client(base_url=f"{hindsight_url}/v1/default/banks") as client:
        for name in (bank, f"{bank}-me"):
            client.put(f"/{name}", json={"enable_observations": False})
        yield Agent(new_memory(settings=settings))
        for name in (bank, f"{bank}-me"):
            client.delete(f"/{name}")


@pytest.mark.spec("s1/S-TOOL-2", "s1/S-TAG-4")
def test_retain_and_recall_with_tags_groups_and_floors(agent: Any) -> None:
    agent.done("retain", content=f"- {PORT}", tags=["deploy"], metadata={"ticket": "OPS-1"})
    agent.done("retain", content=f"- {BROKER}", tags=["queue"])

    assert agent.found() == {PORT, BROKER}
    assert agent.found(tags=["deploy"]) == {PORT}
    assert agent.found(tagGroups=[{"not": {"tags": ["deploy"]}}]) == {BROKER}
    assert agent.found(tagGroups=[{"or": [{"tags": ["deploy"]}, {"tags": ["queue"]}]}]) == {
        PORT,
        BROKER,
    }
    # Everything has this session's tags as well: the scope's and the caller's alone are nobody's.
    assert agent.found(tags=["deploy"], tagsMatch="exact") == set()
    # Every result has a final score; the other floors hold where a result has such a score.
    assert agent.found(minScores={"final": 1.0, "semantic": 1.0, "keyword": 1.0}) == set()
    assert agent.found(types=["world", "experience"], budget="low", maxTokens=400)


@pytest.mark.spec("s1/S-RET-5")
def test_a_document_grows_and_is_replaced(agent: Any) -> None:
    agent.done("retain", content=f"- {PORT}", documentId="ports")
    agent.done("retain", content=f"- {BROKER}", documentId="ports", updateMode="append")
    assert agent.found() == {PORT, BROKER}
    agent.done("retain", content="- The gateway of the shop is gone", documentId="ports")
    assert agent.found() == {"The gateway of the shop is gone"}


@pytest.mark.spec("s1/S-TOOL-1", "s1/S-TOOL-2")
def test_status_scope_bank_and_user(agent: Any) -> None:
    agent.done("retain", content=f"- {PORT}")
    agent.done("retain_user", content="- The user prefers short answers")
    status = agent.told("status")
    assert (status["bank"]["health"], status["bank"]["facts"]) == ("ok", 1)
    assert status["bank"]["server"] == "1.1.0"
    assert status["queue"]["pending"] == status["queue"]["dead"] == 0
    assert {bank["role"] for bank in agent.told("scope")["banks"]} == {"coding", "life"}
    personal = agent.memory.runtime.settings.bank.user_id
    assert agent.found(bank=personal) <= {"The user prefers short answers"}

    dry = agent.told("bank", action="update", reflect_mission="Be brief.")
    assert dry["dryRun"] is True
    assert "reflect_mission" not in agent.told("bank")["missions"]
    agent.done("bank", action="update", reflect_mission="Be brief.", dryRun=False)
    assert agent.told("bank")["missions"]["reflect_mission"] == "Be brief."


@pytest.mark.spec("s1/S-TOOL-2")
def test_mental_models_from_their_making_to_their_end(agent: Any) -> None:
    agent.done("retain", content=f"- {PORT}")
    made = agent.told(
        "mental_model", action="create", id="ports", name="Ports", sourceQuery="which ports?"
    )
    assert made
    assert [m["name"] for m in agent.told("mental_model")["models"]] == ["Ports"]
    agent.done("mental_model", action="update", id="ports", name="All ports")
    assert agent.told("mental_model", action="get", id="ports")["name"] == "All ports"
    agent.done("mental_model", action="refresh", id="ports")
    assert agent.told("mental_model", action="delete", id="ports")["dryRun"] is True
    assert agent.told("mental_model", action="delete", id="ports", dryRun=False) == {
        "deleted": True
    }
    assert agent.told("mental_model")["models"] == []
    assert agent.call("mental_model", action="get", id="ports")["isError"] is True


@pytest.mark.spec("s1/S-TOOL-2")
def test_reflect_within_conditions(agent: Any) -> None:
    agent.done("retain", content=f"- {PORT}", tags=["deploy"])
    answer = agent.done(
        "reflect",
        query="which port?",
        context="a deployment",
        budget="low",
        maxTokens=200,
        factTypes=["world", "experience"],
        excludeMentalModels=True,
        tags=["deploy"],
    )
    assert answer["details"]["outcome"] in ("ok", "empty")
