"""The conversation as text, for what active memory asks models."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hindsight_core.testing.transcripts import TranscriptBuilder
from hindsight_core.transcript.rendered import rendered


def talked() -> TranscriptBuilder:
    talk = TranscriptBuilder()
    talk.user("Which port does the gateway use?")
    talk.assistant("I look.", thinking="nginx, I think", calls=[talk.call("bash", command="ss")])
    talk.result("LISTEN 8443")
    return talk


@pytest.mark.spec("am/A-CTX")
def test_blocks_of_role_and_text_with_thoughts_and_tools():
    assert rendered(talked().entries, limit=1000) == (
        "user: Which port does the gateway use?\n\n"
        "assistant: Thinking: nginx, I think\n"
        "I look.\n"
        'Tool call: bash {"command": "ss"}\n\n'
        "tool bash: LISTEN 8443"
    )


@pytest.mark.spec("am/A-CTX")
def test_records_of_the_host_and_own_steers_are_no_part_of_it():
    talk = talked()
    talk.record("a steer that the host kept as its own message")
    assert "steer" not in rendered(talk.entries, limit=1000)


@pytest.mark.spec("am/A-CTX")
def test_it_is_cut_from_the_front():
    whole = rendered(talked().entries, limit=1000)
    assert rendered(talked().entries, limit=20) == whole[-20:]
    assert rendered(talked().entries, limit=0) == ""


@pytest.mark.spec("am/A-RECALL")
def test_what_the_host_kept_of_the_talk_is_before_the_model_still():
    talk = talked()
    talk.user("And the broker?")
    last = talk.entries[-1].id
    talk.compact("The gateway was looked at.")
    talk.entries[-1] = replace(talk.entries[-1], kept=last)
    talk.assistant("RabbitMQ.")
    assert rendered(talk.entries, limit=1000) == (
        "summary: The gateway was looked at.\n\nuser: And the broker?\n\nassistant: RabbitMQ."
    )


def test_after_a_compaction_only_its_summary_stands_for_what_went_before():
    talk = talked()
    talk.compact("The gateway was looked at.")
    talk.user("And the broker?")
    assert rendered(talk.entries, limit=1000) == (
        "summary: The gateway was looked at.\n\nuser: And the broker?"
    )
