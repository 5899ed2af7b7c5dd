"""``hindsight_retain`` and ``hindsight_retain_user`` with all that a note can say."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_core.errors import BankError

PORT = "The gateway listens on port 8443."
ENTRIES = [{"id": "team", "role": "team"}, {"id": "readonly", "role": "team", "access": "read"}]


def documents(agent: Any, bank: str | None = None) -> list[Any]:
    runtime = agent.memory.runtime
    opened = runtime.open_bank(bank or runtime.bank_id)
    return list(agent.memory.run(opened.list_documents(limit=20)).documents)


@pytest.mark.spec("s1/S-TOOL-2", "s1/S-ID-6")
def test_what_a_note_says_of_itself_is_stored_with_it(agent: Any) -> None:
    made = agent(scope={"project_id": "shop"})
    result = made.call(
        "retain",
        content=PORT,
        context="from the runbook",
        tags=["deploy"],
        metadata={"ticket": "OPS-1"},
        timestamp="2026-03-01",
        entities=["gateway"],
        observationScopes=[["project:shop"]],
    )
    [document] = documents(made)

    assert result["details"]["outcome"] == "stored"
    assert {"deploy", "project:shop", "source:generic"} <= set(document.tags)
    assert document.metadata["ticket"] == "OPS-1"
    assert document.context == "from the runbook"
    assert document.timestamp is not None and document.timestamp.isoformat()[:10] == "2026-03-01"


def test_names_and_scopes_of_a_note_reach_a_server(served: Any, server: Any) -> None:
    served().call("retain", content=PORT, entities=["gateway"], observationScopes=[["a", "b"]])
    [body] = server.bodies("/memories")
    [item] = body["items"]
    assert [entity["text"] for entity in item["entities"]] == ["gateway"]
    assert item["observation_scopes"] == [["a", "b"]]


@pytest.mark.spec("s1/S-RET-5")
@pytest.mark.parametrize("key", ["cwd", "pi_session_file", "source", "retainSource"])
def test_metadata_that_memory_sets_itself_is_refused(agent: Any, key: str) -> None:
    made = agent()
    result = made.call("retain", content=PORT, metadata={key: "mine", "ticket": "1"})
    assert result["isError"] is True and key in result["content"]
    assert documents(made) == []


@pytest.mark.spec("s1/S-RET-5")
def test_adding_to_a_document_is_refused_where_it_could_happen_twice(
    agent: Any, served: Any, server: Any
) -> None:
    refused = agent().call("retain", content=PORT, documentId="ports", updateMode="append")
    assert refused["isError"] is True and "cannot add" in refused["content"]

    server.version = "0.8.0"
    old = served().call("retain", content=PORT, documentId="ports", updateMode="append")
    assert old["isError"] is True and "0.8.6" in old["content"]
    assert server.bodies("/memories") == []


@pytest.mark.spec("s1/S-RET-5")
def test_adding_to_a_document_where_it_happens_once(served: Any, server: Any) -> None:
    done = served().call("retain", content=PORT, documentId="ports", updateMode="append")
    assert done["isError"] is False, done
    [body] = server.bodies("/memories")
    assert body["items"][0]["update_mode"] == "append"
    assert body["items"][0]["document_id"] == "note-ports"


def test_a_document_that_is_named_is_replaced_and_no_session_is_overwritten(agent: Any) -> None:
    made = agent()
    for text in (PORT, "The gateway listens on port 9443."):
        made.call("retain", content=text, documentId="generic-session:s1")
    [document] = documents(made)
    assert document.id == "note-generic-session:s1"
    assert document.text == "The gateway listens on port 9443."


@pytest.mark.spec("s1/S-RET-5")
def test_behind_a_backlog_it_is_queued_and_overtakes_nothing(
    served: Any, server: Any, clock: Any
) -> None:
    agent = served()
    server.down = True
    first = agent.call("retain", content=PORT)
    calls = len(server.bodies("/memories"))
    second = agent.call("retain", content="The broker is RabbitMQ.")

    assert [r["details"]["outcome"] for r in (first, second)] == ["queued", "queued"]
    assert [r["isError"] for r in (first, second)] == [False, False]
    # The bank is known to be away: the second is only enqueued.
    assert len(server.bodies("/memories")) == calls
    server.down = False
    clock.advance(3600)
    runtime = agent.memory.runtime
    agent.memory.run(runtime.outbox.drain(runtime.bank, deadline_s=5, force=True))
    texts = [body["items"][0]["content"] for body in server.bodies("/memories")[calls:]]
    assert texts == [PORT, "The broker is RabbitMQ."]


@pytest.mark.spec("s1/S-RET-5")
def test_with_an_empty_queue_one_write_is_sent_and_its_words_alone(
    served: Any, server: Any
) -> None:
    served().call("retain", content=PORT)
    [body] = server.bodies("/memories")
    assert [item["content"] for item in body["items"]] == [PORT]


def test_a_note_goes_into_the_bank_that_is_named(agent: Any) -> None:
    made = agent(bank={"entries": ENTRIES})
    assert made.call("retain", content=PORT, bank="team")["details"]["outcome"] == "stored"
    assert len(documents(made, "team")) == 1
    for bank in ("readonly", "nobodys"):
        refused = made.call("retain", content=PORT, bank=bank)
        assert refused["isError"] is True and "team" in refused["content"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"metadata": {"ticket": 1}},
        {"metadata": ["a"]},
        {"entities": "gateway"},
        {"timestamp": "yesterday"},
        {"updateMode": "merge"},
        {"updateMode": "append"},
        {"observationScopes": "a"},
        {"observationScopes": ["a"]},
    ],
)
def test_a_wrong_argument_is_an_answer_that_says_so(agent: Any, wrong: dict[str, Any]) -> None:
    made = agent()
    result = made.call("retain", content=PORT, **wrong)
    assert result["isError"] is True and next(iter(wrong)) in result["content"]
    assert documents(made) == []


def test_secrets_in_the_particulars_are_no_more_kept_than_in_the_text(agent: Any) -> None:
    secret = "ghp_" + "a1B2" * 9
    made = agent()
    made.call(
        "retain", content=PORT, context=f"token {secret}", metadata={"t": secret}, tags=[secret]
    )
    [document] = documents(made)
    assert secret not in repr(document)


@pytest.mark.spec("s1/S-TOOL-2")
def test_what_is_about_the_person_waits_and_is_counted_like_all_else(
    agent: Any,
) -> None:
    made = agent(bank={"user_id": "me"})
    personal = made.memory.runtime.open_bank("me")
    working, personal.retain = personal.retain, away
    queued = made.call("retain_user", content="The user prefers short answers.")
    waiting = made.memory.run(made.live.work.pending())
    personal.retain = working
    made.memory.run(made.memory.runtime.queue.retry(bank="me"))
    left = made.memory.run(made.live.work.finish(timeout_s=5))

    assert queued["details"]["outcome"] == "queued"
    assert (waiting, left) == (1, 0)
    assert [d.text for d in documents(made, "me")] == ["The user prefers short answers."]


async def away(document: Any) -> Any:
    raise BankError("connection refused", retryable=True)
