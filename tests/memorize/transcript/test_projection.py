"""Which parts of a message are kept, and how they are worded."""

from __future__ import annotations

import json

import pytest

from hindsight_core.config.profiles import PROFILES
from hindsight_core.config.settings import Retain
from hindsight_core.memorize.transcript.projection import Projection
from hindsight_core.memorize.transcript.wording import worded
from hindsight_core.redact import Redactor
from hindsight_core.testing.transcripts import TranscriptBuilder
from hindsight_core.transcript.sanitise import Sanitiser


def text_of(talk: TranscriptBuilder, **settings: object) -> str:
    retain = Retain.model_validate(settings)
    projection = Projection(retain)
    entries = Sanitiser(Redactor()).entries(talk.path)
    return worded([(e, projection.of(e)) for e in entries], form=retain.form)


def opencode(talk: TranscriptBuilder, **settings: object) -> str:
    return text_of(talk, **{**PROFILES["opencode-hindsight"]["retain"], **settings})


@pytest.mark.spec("s1/S-RET-2")
def test_a_json_array_of_messages_with_their_moments_and_no_ids():
    talk = TranscriptBuilder()
    talk.user("which port?")
    talk.assistant("I look.", thinking="hm", calls=[talk.call("bash", command="ss -l")])
    talk.result("address in use", is_error=True)
    talk.assistant("7443")

    text = text_of(talk, form="json", compact_tool_calls=False)

    assert text.startswith("[\n  {")
    assert json.loads(text) == [
        {
            "role": "user",
            "timestamp": "2030-01-15T10:01:00+00:00",
            "content": [{"type": "text", "text": "which port?"}],
        },
        {
            "role": "assistant",
            "timestamp": "2030-01-15T10:02:00+00:00",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "toolCall", "name": "bash", "arguments": {"command": "ss -l"}},
            ],
        },
        {
            "role": "tool",
            "timestamp": "2030-01-15T10:03:00+00:00",
            "content": [
                {
                    "type": "toolResult",
                    "name": "bash",
                    "isError": True,
                    "text": "address in use",
                }
            ],
        },
        {
            "role": "assistant",
            "timestamp": "2030-01-15T10:04:00+00:00",
            "content": [{"type": "text", "text": "7443"}],
        },
    ]


@pytest.mark.spec("s1/S-RET-2")
def test_blocks_of_ours_and_secrets_are_in_no_document():
    secret = "sk-" + "a1B2" * 8
    talk = TranscriptBuilder()
    talk.user(f"<hindsight-memory kind='recall'>\nport 1\n</hindsight-memory>\nuse {secret}")

    text = text_of(talk, form="json")

    assert "port 1" not in text
    assert secret not in text
    assert "use" in text


@pytest.mark.spec("s1/S-RET-2")
def test_own_tools_and_looking_around_are_left_out():
    talk = TranscriptBuilder()
    talk.assistant(
        "", calls=[talk.call("hindsight_recall", query="x"), talk.call("bash", command="ls")]
    )
    talk.result("a fact", name="hindsight_recall", is_error=True)
    talk.result("no such file", name="read", is_error=True)
    talk.result("it broke", name="bash", is_error=True)

    assert text_of(talk) == "Assistant: [tool bash: ls]\n\nTool: [bash failed] it broke"


def test_tools_can_be_named():
    talk = TranscriptBuilder()
    talk.assistant("", calls=[talk.call("bash", command="ls"), talk.call("edit", path="a.py")])
    talk.result("a", name="grep")

    kept = text_of(
        talk,
        content={"assistant": ["toolCall"], "toolResult": ["content"]},
        tool_filter={"toolCall": {"include": ["edit"]}, "toolResult": {"exclude": []}},
    )

    assert kept == "Assistant: [tool edit: a.py]\n\nTool: [grep gave] a"


def test_a_summary_of_a_result_is_its_first_500_characters():
    talk = TranscriptBuilder()
    talk.result("a few words " * 80, name="bash")
    kept = text_of(talk, content={"toolResult": ["summary"]})
    assert kept == f"Tool: [bash gave] {('a few words ' * 80)[:500]} […]"


@pytest.mark.spec("oc/O-TX-1")
def test_labelled_paragraphs():
    talk = TranscriptBuilder()
    talk.user("Hello")
    talk.assistant("<hindsight_memories>\nold\n</hindsight_memories>\nAnswer")
    talk.user("<hindsight_memories>\nold\n</hindsight_memories>\nNext")

    assert opencode(talk) == "User: Hello\n\nAssistant: Answer\n\nUser: Next"


@pytest.mark.spec("oc/O-TX-2")
def test_only_text_without_the_extras_and_all_of_it_with_them():
    talk = TranscriptBuilder()
    talk.user("a program's words", synthetic=True)
    talk.add("system", *TranscriptBuilder().user("be brief").parts)
    talk.assistant("Answer", thinking="a guess", calls=[talk.call("bash", command="ls")])
    talk.result("file.py")

    assert opencode(talk) == "Assistant: Answer"
    assert opencode(talk, extras=True) == (
        "Assistant: [thinking] a guess\nAnswer\n[tool bash: ls]\n\nTool: [bash gave] file.py"
    )


@pytest.mark.spec("oc/O-TX-2")
@pytest.mark.parametrize("tag", ["thinking", "think", "reasoning"])
def test_thoughts_in_the_text_are_left_out(tag):
    talk = TranscriptBuilder()
    talk.assistant(f"<{tag}>x</{tag}>Answer")
    assert opencode(talk) == "Assistant: Answer"


@pytest.mark.spec("oc/O-TX-3")
def test_blocks_inside_a_message_leave_its_other_parts():
    talk = TranscriptBuilder()
    talk.user(
        "Before\n< HINDSIGHT_MEMORIES >\na\nb\n</ hindsight_memories >\n\n\nMiddle\n"
        "<relevant_memories>\nb\n</relevant_memories>\nAfter"
    )
    assert opencode(talk) == "User: Before\n\nMiddle\n\nAfter"


@pytest.mark.spec("oc/O-TX-4")
def test_a_message_without_words_is_not_there():
    talk = TranscriptBuilder()
    talk.user("<hindsight_memories>only this</hindsight_memories>")
    talk.assistant("", thinking="a guess")
    assert opencode(talk) == ""


@pytest.mark.spec("oc/O-CA-4")
def test_one_line_a_tool_action_and_never_its_output():
    talk = TranscriptBuilder()
    talk.assistant("I look.", calls=[talk.call("bash", command="cat big.log", timeout=5)])
    talk.result("many words " * 10_000)

    kept = opencode(talk, content={"user": ["text"], "assistant": ["text", "toolCall"]})

    assert kept == "Assistant: I look.\n[tool bash: cat big.log]"
