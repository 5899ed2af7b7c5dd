"""Which tools the agent of a session has, and what they can be told."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_core.engine.tools.further import FURTHER

RECALL = """query bank types preferObservations minScores budget maxTokens queryTimestamp
    includeSourceFacts maxSourceFactsTokens tags tagsMatch tagGroups"""
RETAIN = """content context bank tags entities documentId timestamp metadata updateMode
    observationScopes"""
REFLECT = """query context bank budget maxTokens factTypes excludeMentalModels
    excludeMentalModelIds tags tagsMatch tagGroups"""


@pytest.mark.spec("s1/S-TOOL-2")
def test_the_tools_of_the_profile_and_their_parameters(agent: Any) -> None:
    """Not offered: what only a debugging person reads, or what a setting decides.

    That is ``includeChunks``, ``includeEntities``, ``trace``, ``responseSchema``, ``include*`` of
    reflect, ``async`` (`retain.run_async`) and ``documentTags`` (a note's tags are its document's).
    """
    tools = agent(bank={"user_id": "me"}).tools
    names = "recall retain retain_user reflect forget status scope config bank mental_model"

    assert set(tools) == {f"hindsight_{name}" for name in names.split()}
    for name, wanted in (("recall", RECALL), ("retain", RETAIN), ("reflect", REFLECT)):
        assert set(wanted.split()) <= set(tools[f"hindsight_{name}"]["properties"])
    assert tools["hindsight_retain"]["required"] == ["content"]
    assert set(tools["hindsight_config"]["properties"]) == {"action", "key", "value"}
    model = tools["hindsight_mental_model"]["properties"]
    assert model["action"]["enum"] == ["list", "get", "create", "update", "refresh", "delete"]
    assert model["dryRun"]["default"] is True


@pytest.mark.spec("s1/S-TOOL-2")
def test_only_what_the_settings_name_is_offered(agent: Any) -> None:
    short = agent(tools={"further": ["status"], "parameters": "short"}).tools
    names = ("recall", "retain", "reflect", "forget", "status")
    assert set(short) == {f"hindsight_{name}" for name in names}
    assert "tagGroups" not in short["hindsight_recall"]["properties"]
    assert set(short["hindsight_retain"]["properties"]) == {"content", "kind"}


def test_every_tool_that_can_be_named_has_its_description(agent: Any) -> None:
    made = agent(tools={"further": list(FURTHER)})
    described = {tool["name"]: tool["description"] for tool in made.live.tools.describe()}
    assert all(described[f"hindsight_{name}"] for name in FURTHER)


def test_descriptions_tell_of_parameters_that_are_there(agent: Any) -> None:
    full = {t["name"]: t["description"] for t in agent().live.tools.describe()}
    short = agent(tools={"parameters": "short"}).live.tools.describe()
    assert "tagGroups" in full["hindsight_recall"] and "documentId" in full["hindsight_retain"]
    assert '{"not": {...}}' in full["hindsight_recall"]
    assert not any("tagGroups" in tool["description"] for tool in short)
    assert not any("documentId" in tool["description"] for tool in short)
