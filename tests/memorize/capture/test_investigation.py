from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

FOUND = "The cache key leaves out the tenant."
SHOWN = "key = f'{path}'  # no tenant"


@pytest.fixture
def run(talk):
    """A run whose last word comes so many milliseconds after its request."""

    def make(elapsed_ms: int = 61_000, request: str = "Why are pages mixed up?"):
        start = talk.user(request).timestamp
        talk.assistant("I look.", thinking="perhaps the cache", calls=[talk.call("read", path="c")])
        talk.result(SHOWN, name="read")
        talk.record("<hindsight-memory>a steer that says tenant</hindsight-memory>")
        talk.assistant("The key has no tenant.")
        for number, entry in enumerate(talk.entries):
            if entry.timestamp > start:
                moment = start + timedelta(milliseconds=elapsed_ms)
                talk.entries[number] = replace(entry, timestamp=moment)
        return talk

    return make


def finding(propose, **changes: object) -> dict:
    return propose(
        FOUND,
        SHOWN,
        **{
            "kind": "fact",
            "scope": "project",
            "confidence": 0.7,
            "why_stored": "it took an hour",
            **changes,
        },
    )


@pytest.mark.spec("am/A-ASST-2")
@pytest.mark.parametrize(("elapsed", "stored"), [(59_999, 0), (60_000, 1), (61_000, 1)])
async def test_only_a_long_run_is_looked_at(active, scripted, propose, run, elapsed, stored):
    kit = active(scripted(investigation={"memories": [finding(propose)]}))
    await kit.hear(run(elapsed))
    assert len(await kit.memories()) == stored
    assert len(kit.model.asked("capture/investigation")) == stored


@pytest.mark.spec("am/A-ASST-2", "am/A-ASST-3", "am/A-REC-2", "am/A-REC-3")
async def test_a_finding_is_stored_with_what_made_it(active, scripted, propose, run):
    kit = active(scripted(investigation={"memories": [finding(propose)]}))
    await kit.hear(run())
    record = (await kit.memories())[FOUND].record
    assert (record.confidence, record.priority) == (0.5, 0.55)
    assert (record.scope, record.project) == ("project", "here")
    told = record.told
    assert (told.actor, told.cause) == ("assistant", "Why are pages mixed up?")
    assert (told.reason, told.elapsed_ms) == ("it took an hour", 61_000)
    assert (told.evidence, told.user_text) == (SHOWN, None)


@pytest.mark.spec("am/A-ASST-2", "am/A-CTX")
async def test_what_the_model_sees_of_a_run(active, scripted, propose, run, talk):
    talk.user("An earlier request.")
    talk.assistant("An earlier answer.")
    kit = active(scripted(investigation={"memories": [finding(propose)]}))
    await kit.hear(run())
    asked = kit.model.asked("capture/investigation")[-1].messages[0].content
    work = asked.split("[work]")[1].split("[end of work]")[0]
    assert f"tool read: {SHOWN}" in work
    assert "Thinking: perhaps the cache" in work
    assert 'Tool call: read {"path": "c"}' in work
    assert "The key has no tenant." in work
    assert "Why are pages mixed up?" not in work
    assert "a steer" not in work
    assert "earlier answer" not in work
    assert "for 61 seconds" in asked
    assert "Why are pages mixed up?" in asked.split("[request]")[1]
    validated = kit.model.asked("capture/investigation_validation")[-1].messages[0].content
    assert '"why_stored": "it took an hour"' in validated


@pytest.mark.spec("am/A-ASST-2")
async def test_only_the_end_of_a_long_run_is_shown(active, scripted, run):
    rules = {"enabled": True, "context_characters": 30}
    kit = active(scripted(), investigation=rules)
    await kit.hear(run())
    asked = kit.model.asked("capture/investigation")[-1].messages[0].content
    assert len(asked.split("[work]")[1].split("[end of work]")[0].strip()) <= 30


@pytest.mark.spec("am/A-ASST-3")
@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "user_profile"},
        {"why_stored": "  "},
        {"evidence": "key = tenant"},
        {"confidence": 0.61},
        {"scope": None},
    ],
)
async def test_findings_that_are_not_taken(active, scripted, propose, run, changes):
    found = {**finding(propose), **changes}
    kit = active(scripted(investigation={"memories": [found]}))
    await kit.hear(run())
    assert kit.reasons() == ["invalid_evidence_kind_or_confidence"]
    assert await kit.memories() == {}


@pytest.mark.spec("am/A-ASST-3")
async def test_a_validator_may_refuse_a_finding(active, scripted, propose, run):
    kit = active(
        scripted(
            investigation={"memories": [finding(propose)]},
            investigation_validation={"accept": False, "reason": "a guess"},
        )
    )
    await kit.hear(run())
    assert await kit.memories() == {}
    assert kit.reasons() == ["durability_or_entailment_validation_failed"]


@pytest.mark.spec("am/A-MERGE")
async def test_a_finding_never_replaces_what_the_user_said(active, scripted, propose, run):
    old = "The cache key holds the tenant."
    kit = active(
        scripted(
            investigation={"memories": [finding(propose, scope="global")]},
            merge=lambda request: {"action": "replace", "target_id": held.id},
        )
    )
    held = await kit.hold(old)
    await kit.hear(run())
    assert list(await kit.memories()) == [old]


@pytest.mark.spec("am/A-MERGE")
async def test_a_finding_replaces_an_earlier_finding(active, scripted, propose, run):
    old = "The cache key holds the tenant."
    kit = active(
        scripted(
            investigation={"memories": [finding(propose, scope="global")]},
            merge=lambda request: {"action": "replace", "target_id": held.id},
        )
    )
    held = await kit.hold(old, actor="assistant")
    await kit.hear(run())
    [memory] = (await kit.memories()).values()
    assert (memory.fact.text, memory.record.priority) == (FOUND, 0.55)
    assert [told.cause for told in memory.record.earlier] == ["an earlier cause"]
    stored = next(fields for name, fields in kit.events if name == "capture.stored")
    assert stored["created"] is False


@pytest.mark.spec("am/A-ASST-1")
async def test_a_run_ends_when_the_agent_has_nothing_more_to_do(active, scripted, talk):
    talk.user("Why are pages mixed up?")
    talk.assistant("I look.", calls=[talk.call("read", path="c")])
    talk.user("In the shop, I mean.")
    talk.result("nothing", name="read")
    talk.assistant("It is the cache.")
    talk.user("Thanks.")
    talk.assistant("You are welcome.")
    kit = active(scripted())
    await kit.hear(talk, "import")
    causes = [
        request.messages[0].content.split("[request]")[1].split("[end of request]")[0].strip()
        for request in kit.model.asked("capture/investigation")
    ]
    assert causes == ["Why are pages mixed up?", "Thanks."]


@pytest.mark.spec("am/A-ASST-2")
@pytest.mark.parametrize("off", [{"enabled": False}, {"enabled": True}])
async def test_a_run_without_work_or_with_it_switched_off(active, scripted, talk, off):
    kit = active(scripted(), investigation=off)
    talk.user("Why are pages mixed up?")
    if not off["enabled"]:
        talk.assistant("It is the cache.")
    await kit.hear(talk)
    assert kit.model.asked("capture/investigation") == []


async def test_a_run_without_times_is_left_alone(active, scripted, run):
    talk = run()
    talk.entries = [replace(entry, timestamp=None) for entry in talk.entries]
    kit = active(scripted())
    await kit.hear(talk)
    assert kit.model.asked("capture/investigation") == []
