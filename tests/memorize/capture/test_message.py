from __future__ import annotations

import pytest

from hindsight_core.errors import ProviderError

ORANGE = "By the way, my favourite colour is orange."
MEMORY = "The user's favourite colour is orange."
QUOTE = "my favourite colour is orange"


@pytest.mark.spec("am/A-CAP", "am/A-REC-1", "am/A-REC-2", "am/A-REC-3")
async def test_a_preference_is_stored_with_its_evidence(active, scripted, propose, clock):
    kit = active(scripted(propose(MEMORY, QUOTE)))
    [report] = await kit.say(ORANGE)
    assert (report.outcome, [f.text for f in report.stored]) == ("stored", [MEMORY])
    [memory] = (await kit.memories()).values()
    record, fact = memory.record, memory.fact
    assert (record.confidence, record.decay_rate, record.priority) == (0.5, 0.28, 1)
    assert (record.scope, record.project, record.cause) == ("global", "", "created")
    assert (record.decayed_on, record.created_at) == (clock().date(), clock())
    told = record.told
    assert (told.actor, told.cause) == ("user", "explicit_user_statement")
    assert (told.session_id, told.cwd) == ("s1", "/projects/shop")
    assert (told.user_text, told.evidence) == (ORANGE, QUOTE)
    assert (fact.kind, fact.provenance.speaker) == ("user_profile", "user")
    assert (fact.provenance.quote, fact.provenance.entry_ids) == (QUOTE, ("e01",))


@pytest.mark.spec("am/A-CAP")
async def test_what_only_the_talk_before_says_is_not_stored(active, scripted, propose, talk):
    kit = active(scripted(propose(MEMORY, QUOTE)))
    talk.assistant("I think my favourite colour is orange.")
    talk.user("Thanks, go on with the tests.")
    [report] = await kit.hear(talk)
    assert (report.outcome, kit.bank.facts) == ("empty", {})
    assert kit.reasons() == ["evidence_not_in_user_message"]
    assert (
        "favourite colour is orange" in kit.model.asked("capture/extraction")[0].messages[0].content
    )
    assert kit.model.asked("capture/validation") == []


@pytest.mark.spec("am/A-CAP")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kind": "decision"}, "invalid_schema_or_kind"),
        ({"scope": "team"}, "invalid_schema_or_kind"),
        ({"text": 7}, "invalid_schema_or_kind"),
        ({"confidence": "high"}, "invalid_schema_or_kind"),
        ({"confidence": True}, "invalid_schema_or_kind"),
        ({"evidence": "fa"}, "evidence_not_in_user_message"),
        ({"evidence": "my favourite color"}, "evidence_not_in_user_message"),
        ({"confidence": 0.71}, "low_confidence"),
    ],
)
async def test_the_first_reason_against_a_candidate(active, scripted, propose, changes, reason):
    kit = active(scripted({**propose(MEMORY, QUOTE), **changes}))
    [report] = await kit.say(ORANGE)
    assert (report.outcome, report.rejected) == ("empty", (reason,))
    assert kit.reasons() == [reason]
    assert kit.model.stages == ["capture/extraction"]


@pytest.mark.spec("am/A-CAP")
@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("I've installed pi-tasks; let\u2019s try it for now", "The user has pi-tasks installed."),
        ("We wanted to try bun here", "The project uses bun."),
        ("Use the staging bank for this session", "The user works on the staging bank."),
        ("inspect the cache and find out what is stale", "The cache seems to be stale."),
    ],
)
async def test_what_is_about_this_task_needs_no_validator(active, scripted, propose, said, text):
    kit = active(scripted(propose(text, said)))
    await kit.say(said)
    assert kit.reasons() == ["transient_task_intent"]
    assert kit.model.asked("capture/validation") == []


@pytest.mark.spec("am/A-CAP")
@pytest.mark.parametrize("accept", [False, "yes", 1, None])
async def test_only_a_literal_yes_of_the_validator_stores(active, scripted, propose, accept):
    verdict = {"accept": accept, "reason": "an instruction"}
    kit = active(scripted(propose(MEMORY, QUOTE), validation=verdict))
    [report] = await kit.say(ORANGE)
    assert (report.outcome, kit.bank.facts) == ("empty", {})
    assert kit.reasons() == ["durability_or_entailment_validation_failed"]


@pytest.mark.spec("am/A-CAP")
async def test_evidence_is_found_whatever_its_case_spaces_and_apostrophes(
    active, scripted, propose
):
    kit = active(scripted(propose("The user's shell is zsh.", "MY shell's  zsh")))
    await kit.say("fyi:\nmy shell\u2019s\n zsh, always was")
    assert "The user's shell is zsh." in await kit.memories()


@pytest.mark.spec("am/A-CAP")
async def test_at_most_three_of_a_message(active, scripted, propose):
    words = [f"tool number {n}" for n in range(5)]
    kit = active(scripted(*[propose(f"The user has {word}.", word) for word in words]))
    [report] = await kit.say(f"I have {', '.join(words)}")
    assert len(report.stored) == 3


@pytest.mark.spec("am/A-CAP")
@pytest.mark.parametrize("said", ["ok yes!", "   ok   "])
async def test_a_short_message_costs_nothing(active, scripted, said):
    kit = active(scripted())
    await kit.say(said)
    assert kit.model.stages == []


@pytest.mark.spec("am/A-CAP")
async def test_what_the_model_is_asked(active, scripted, propose, talk):
    kit = active(
        scripted(propose(MEMORY, QUOTE)), capture={"enabled": True, "context_characters": 30}
    )
    talk.user("What is a long question about nothing at all?")
    talk.assistant("It is the end of this answer.")
    talk.user(ORANGE)
    await kit.hear(talk, "idle")
    request = kit.model.asked("capture/extraction")[-1]
    assert ORANGE in request.messages[0].content
    assert "end of this answer." in request.messages[0].content
    assert "long question" not in request.messages[0].content
    assert "(here)" in request.messages[0].content
    assert request.system.endswith("(hindsight stage: capture/extraction)")
    assert request.json
    validated = kit.model.asked("capture/validation")[-1].messages[0].content
    assert '"kind": "user_profile"' in validated
    assert ORANGE in validated


@pytest.mark.spec("am/A-CAP", "am/A-LOG")
async def test_events_name_no_model_and_a_listener_that_fails_costs_nothing(
    active, scripted, propose
):
    from hindsight_core.memorize.lifecycle.sink import EventSink

    def broken(name, fields):
        raise RuntimeError("the display is gone")

    kit = active(scripted(propose(MEMORY, QUOTE)), sink=EventSink(broken))
    [report] = await kit.say(ORANGE)
    assert report.outcome == "stored"

    told = active(scripted(propose(MEMORY, QUOTE)), home="other")
    await told.say(ORANGE)
    assert told.names() == [
        "capture.started",
        "capture.extracted",
        "capture.validated",
        "capture.neighbors",
        "capture.stored",
        "capture.completed",
    ]
    assert told.events[-1][1] == {"stored": 1}
    assert "scripted" not in str(told.events)


@pytest.mark.spec("am/A-REC-2", "am/A-SEC")
async def test_what_is_kept_of_the_message_has_no_secret_and_is_cut(active, scripted, propose):
    token = "ghp_" + "a1B2" * 9
    said = f"{QUOTE} and my token is {token} " + "and so on " * 60
    kit = active(scripted(propose(MEMORY, QUOTE)))
    await kit.say(said)
    [memory] = (await kit.memories()).values()
    assert len(memory.record.told.user_text) >= 499
    assert token not in str(memory.record)
    assert token not in str([request.messages for request in kit.model.requests])


@pytest.mark.spec("am/A-SEC", "am/A-MERGE")
async def test_a_private_key_is_never_a_memory(active, scripted, propose):
    begin = "-----BEGIN RSA " + "PRIVATE KEY-----"
    key = f"{begin}\nMIIBOgIBAAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8Qu"
    kit = active(scripted(propose(f"The key is {begin}", "the key is")))
    await kit.say(f"the key is {key}")
    assert kit.bank.facts == {}


def answering_badly_about(word: str, reply: object):
    def answer(request):
        about = request.messages[0].content.split("[message]")[1]
        return reply if word in about else {"memories": []}

    return answer


@pytest.mark.spec("am/A-FAIL", "am/A-SCHED-6")
async def test_a_message_that_fails_by_itself_holds_nothing_up_and_is_given_up(
    active, scripted, talk
):
    replies = {"capture/extraction+repair": "no"}
    kit = active({**scripted(extraction=answering_badly_about("first", "no")), **replies})
    talk.user("this is the first message")
    talk.assistant("ok")
    talk.user("this is the second message")
    for _ in range(3):
        [report] = await kit.hear(talk)
        assert (report.outcome, "could not be read" in report.reason) == ("failed", True)
    assert ("capture.error", {"error": "AnswerError"}) in kit.events
    assert len(kit.model.asked("capture/extraction")) == 4
    assert await kit.hear(talk) == []


@pytest.mark.spec("am/A-FAIL", "am/A-SCHED-6")
async def test_an_outage_loses_no_message_however_long_it_is(active, scripted, propose, talk):
    kit = active(scripted(extraction=ProviderError("away")))
    for number in range(30):
        talk.user(ORANGE if number == 0 else f"This is message number {number}.")
        talk.assistant("Done.")
        [report] = await kit.hear(talk)
        assert (report.outcome, report.reason) == ("failed", "away")
    kit.model.replies.set("capture/extraction", {"memories": [propose(MEMORY, QUOTE)]})
    for _ in range(4):
        await kit.hear(talk)
    assert list(await kit.memories()) == [MEMORY]
    assert await kit.hear(talk) == []


async def test_each_message_is_looked_at_once_in_every_session_that_holds_it(
    active, scripted, propose, talk
):
    kit = active(scripted(propose(MEMORY, QUOTE)))
    talk.user(ORANGE)
    await kit.hear(talk)
    assert await kit.hear(talk) == []
    fork = type(talk)("s2")
    fork.entries, fork._leaf = list(talk.entries), talk.entries[-1].id
    assert await kit.hear(fork) == []
    assert len(kit.model.asked("capture/extraction")) == 1


async def test_a_long_session_met_in_its_middle_is_not_gone_through(active, scripted, talk):
    kit = active(scripted())
    for number in range(20):
        talk.user(f"This is message number {number}.")
        talk.assistant("Done.")
    await kit.hear(talk)
    assert len(kit.model.asked("capture/extraction")) == 8
    assert await kit.hear(talk) == []
    imported = active(scripted(), home="other")
    await imported.hear(talk, "import")
    assert len(imported.model.asked("capture/extraction")) == 20


async def test_without_a_model_rules_keep_what_the_user_states(active):
    kit = active(None)
    [report] = await kit.say("Remember: the shop opens at 9:30 on Sundays.")
    assert report.outcome == "stored"
    [memory] = (await kit.memories()).values()
    assert "9:30" in memory.fact.text
    assert memory.record.told.actor == "user"
    assert "9:30" in memory.record.told.evidence


async def test_a_filter_of_a_plugin_sees_memories_too(active, scripted, propose):
    from hindsight_core.hookspecs import hookimpl

    class Never:
        @hookimpl
        def hindsight_filter_facts(self, window, facts):
            return [fact for fact in facts if "orange" not in fact.text]

    kit = active(scripted(propose(MEMORY, QUOTE)), plugins=[Never()])
    [report] = await kit.say(ORANGE)
    assert (report.outcome, kit.bank.facts) == ("empty", {})
