"""``retain.before_enqueue``: a yes is a yes, and everything else blocks."""

from __future__ import annotations

import json
import sys

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.errors import MemoryOff, WriteVetoed
from hindsight_core.memorize.gate import Gate, gating
from hindsight_core.memory import Document
from hindsight_core.testing.memory_bank import FakeBank
from hindsight_core.testing.transcripts import TranscriptBuilder

DOCUMENT = Document("d1", "what was said", tags=("a",))


def python(code: str, *, timeout_ms: int = 5000) -> Gate:
    return Gate((sys.executable, "-c", code), timeout_ms=timeout_ms)


@pytest.mark.spec("s1/S-RET-6")
async def test_exit_zero_allows_and_the_job_is_on_its_input(tmp_path):
    seen = tmp_path / "seen"
    await python(f"import sys; open({str(seen)!r}, 'w').write(sys.stdin.read())")("b", DOCUMENT)

    (line,) = seen.read_text().splitlines()
    job = json.loads(line)
    assert (job["bank"], job["document"]["id"]) == ("b", "d1")
    assert job["document"]["text"] == "what was said"
    assert line == json.dumps(job, sort_keys=True, separators=(",", ":"))


@pytest.mark.spec("s1/S-RET-6")
@pytest.mark.parametrize(
    ("gate", "why", "decided"),
    [
        (python("import sys; sys.exit('not this')"), "exit 1: not this", True),
        (python("raise SystemExit(3)"), "exit 3", True),
        (python("input(); import os; os.kill(os.getpid(), 9)"), "exit -9", False),
        (python("import time; time.sleep(60)", timeout_ms=100), "no answer within 0.1 s", False),
        (Gate(("/nowhere/at-all",), timeout_ms=1000), "cannot be started", False),
        (Gate(("a\0b",), timeout_ms=1000), "cannot be started", False),
    ],
)
async def test_everything_else_blocks(gate, why, decided):
    with pytest.raises(MemoryOff, match="blocks the write") as caught:
        await gate("b", DOCUMENT)
    assert why in str(caught.value)
    # Only what it decided is for good; where it could not decide it is asked again.
    assert isinstance(caught.value, WriteVetoed) is decided


async def test_no_shell_is_involved(tmp_path):
    marker = tmp_path / "marker"
    await Gate((sys.executable, "-c", "pass", f"; touch {marker}"), timeout_ms=5000)("b", DOCUMENT)
    assert not marker.exists()


async def test_hooks_inside_it_do_nothing(monkeypatch):
    code = "import os, sys; sys.exit(0 if os.environ['HINDSIGHT_MEM_INSIDE'] else 1)"
    await python(code)("b", DOCUMENT)


@pytest.mark.spec("s1/S-RET-6")
async def test_what_is_blocked_is_on_no_disk_and_a_note_says_why(kit):
    bank = FakeBank("shop-bank")
    made = kit(bank=bank)
    made.outbox._gate = python("import sys; sys.exit('secret project')")
    with pytest.raises(MemoryOff, match="secret project"):
        await made.memorizer.retain_note("The port of the gateway is 8443.")
    assert await made.queue.pending() == 0
    assert bank.documents == {}


@pytest.mark.spec("s1/S-RET-6")
async def test_a_window_that_was_vetoed_is_left_out_and_the_next_one_is_not(kit, script, answer):
    pipeline = kit(script(extract=answer("The staging cluster is called heron.")))
    pipeline.outbox._gate = python("import sys; sys.exit('heron' in sys.stdin.read())")
    talk = TranscriptBuilder()
    talk.user("What is the cluster called?")
    talk.assistant("The staging cluster is called heron.")
    (report,) = await pipeline.remember(talk)
    again = await pipeline.remember(talk)

    assert (report.outcome, report.vetoed) == ("skipped", True)
    assert report.reason is not None and "before_enqueue" in report.reason
    assert again == []
    assert pipeline.bank.documents == {}


def test_without_a_command_there_is_no_gate():
    assert gating(Settings(), {}) == {"gate": None, "gather": 1}
    settings = Settings.model_validate(
        {"retain": {"before_enqueue": ["check"], "delivery": "coalesced"}, "queue": {"batch": 4}}
    )
    made = gating(settings, {})
    assert made["gate"] is not None
    assert made["gather"] == 4
