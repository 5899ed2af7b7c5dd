"""What is fed with hostile bytes, and what must hold whatever they are.

Each target is a function of bytes that returns quietly or raises `AssertionError`. Only the
project's own errors are an answer; anything else that leaves a function is a finding.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from hindsight_core.bridge.peer import Peer
from hindsight_core.bridge.server import BridgeServer
from hindsight_core.errors import HindsightError
from hindsight_core.identity import fact_id
from hindsight_core.memorize.answers import DedupAnswer, FactsAnswer, KeepAnswer, RetireAnswer
from hindsight_core.memory import Fact, Hit
from hindsight_core.prompts import Prompts
from hindsight_core.providers.structured import read_answer
from hindsight_core.recall.answers import DetectAnswer, JudgeAnswer, QueriesAnswer
from hindsight_core.recall.block import recall_block
from hindsight_core.redact import Redactor
from hindsight_core.transcript.entry import Entry
from hindsight_core.transcript.projections import memorize_text
from hindsight_core.transcript.readers import read_transcript
from hindsight_core.transcript.sanitise import Sanitiser

FORMS = (FactsAnswer, KeepAnswer, DedupAnswer, RetireAnswer, QueriesAnswer, JudgeAnswer)
METHODS = (
    "session/start", "turn/start", "turn/progress", "turn/end", "compact/before", "compact/after",
    "tool/call", "command/run", "status/get", "panel/open", "panel/key", "event", "system/prompt",
    "session/end", "initialize",
)  # fmt: skip
# Its own words for a failure that it did not foresee.
SURPRISE = " failed: "


@cache
def sanitiser() -> Sanitiser:
    return Sanitiser(Redactor())


@cache
def folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="fuzz"))


def bridge(data: bytes) -> None:
    """Lines to a bridge: each request gets one answer, each answer is one line of JSON."""
    written: list[bytes] = []

    left = [*requests(data), b""]

    class Feed:
        async def readline(self) -> bytes:
            await asyncio.sleep(0)
            return left.pop(0)

    async def serve() -> None:
        server = BridgeServer(
            host="generic",
            host_object=None,
            env=environment(),
            peer_factory=lambda methods: Peer(read=Feed(), write=written.append, methods=methods),
        )
        async with asyncio.timeout(60):
            await server.serve()

    asyncio.run(serve())
    answered: list[object] = []
    for line in written:
        assert line.endswith(b"\n"), line
        assert line.count(b"\n") == 1, line
        record = json.loads(line)
        assert isinstance(record, dict), line
        if "method" not in record:
            answered.append(record["id"])
        error = record.get("error") or {}
        assert error.get("code") != -32000 or SURPRISE not in error["message"], error
    mine = [number for number in answered if isinstance(number, int) and number >= 10_000]
    assert len(mine) == len(set(mine)), "a request was answered twice"


def requests(data: bytes) -> Iterable[bytes]:
    """Any bytes as lines; a line that begins with a small number calls a method."""
    opened = {"session": {"id": "s"}, "cwd": str(folder()), "capabilities": {}}
    yield call(9_999, "initialize", opened)
    for number, line in enumerate(data[:100_000].split(b"\n")[:12]):
        if not line or line[0] >= len(METHODS):
            yield line + b"\n"
            continue
        try:
            params = json.loads(line[1:])
        except (ValueError, RecursionError):
            text = line[1:].decode("utf-8", "surrogateescape" if number % 2 else "replace")
            params = usual(text)
        if METHODS[line[0]] == "initialize":
            continue
        yield call(10_000 + number, METHODS[line[0]], params)


def usual(text: str) -> dict[str, Any]:
    """Parameters that any method understands, full of a text."""
    parts = [
        {"type": "text", "text": text},
        {"type": "thinking", "text": text},
        {"type": "toolCall", "id": text[:9], "name": text[:9], "arguments": {text[:9]: [text]}},
        {"type": "toolResult", "toolCallId": text[:9], "name": "x", "isError": 0, "text": text},
        {"type": text[:9]},
    ]
    roles = ("user", "assistant", "tool", "host", text[:5])
    entries = [
        {"id": f"{text[:20]}{n}", "parentId": text[:5], "role": role, "parts": parts[n:]}
        for n, role in enumerate(roles)
    ]
    return {
        "turnId": text[:9], "prompt": text, "entries": entries, "reason": text[:9] or "startup",
        "name": ("hindsight_retain", "hindsight_recall", "mem-recall")[len(text) % 3],
        "arguments": {"content": text, "query": text, "id": text}, "width": len(text),
        "height": 5, "key": text[:3], "payload": {text[:9]: text}, "system": text,
    }  # fmt: skip


def call(number: int, method: str, params: object) -> bytes:
    return json.dumps({"id": number, "method": method, "params": params}).encode() + b"\n"


def environment() -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder()),
        "HINDSIGHT_MEM_HOME": str(folder() / "memory"),
        "HINDSIGHT_MEM_BANK__ID": "fuzz",
        "HINDSIGHT_MEM_PLUGINS": "",
    }


def readers(data: bytes) -> None:
    """A transcript file of every form: it is read, or said to be unreadable."""
    file = folder() / "session.jsonl"
    file.write_bytes(data[:2_000_000])
    for host in (None, "pi", "omp", "canonical", "text"):
        try:
            transcript = read_transcript(file, host=host)
        except HindsightError as error:
            assert str(error)
            continue
        for entry in transcript.entries:
            entry_is_safe(entry)


def dialects(data: bytes) -> None:
    """The session file of each agent that is read by its hooks, followed while it grows."""
    from hindsight_host_generic.transcripts import DIALECTS
    from hindsight_host_generic.transcripts.follow import Follower

    file = folder() / "agent.jsonl"
    half = data[: len(data) // 2].rpartition(b"\n")[0]
    for dialect in DIALECTS.values():
        follower = Follower(dialect, {})
        for content in (half, data + b"\n", half):
            file.write_bytes(content)
            for entry in follower.update(str(file)).entries:
                entry_is_safe(entry)


def entry_is_safe(entry: Entry) -> None:
    clean = sanitiser().entry(entry)
    if clean is None:
        return
    text = memorize_text(clean) or ""
    assert not any(unicodedata.category(c) == "Cs" for c in text), "a lone surrogate"
    assert "\0" not in text
    assert "</hindsight-memory>" not in text
    text.encode()


def answers(data: bytes) -> None:
    """What a model said, for every form of answer: an answer, or an error of ours."""
    text = data[:200_000].decode("utf-8", "replace")
    for form in (*FORMS, DetectAnswer):
        try:
            found = read_answer(text, form)
        except HindsightError as error:
            assert str(error)
            continue
        assert isinstance(found, form)


def blocks(data: bytes) -> None:
    """A fact in a block: it can neither close the block nor look like its labels."""
    text = sanitiser().fact_text(data[:20_000].decode("utf-8", "replace"), limit=5_000)
    if not text:
        return
    fact = Fact(id=fact_id(text), text=text)
    shown = recall_block(templates(), [Hit(fact, "shop", 0.5)])
    assert shown is not None
    lines = shown.text.splitlines()
    assert len(lines) == 5, lines
    assert lines[0] == '<hindsight-memory kind="recall">'
    assert lines[-1] == "</hindsight-memory>"
    # ``List<User>`` is a type in code.
    code = re.sub(r"(?<=\w)<(?=[A-Z][a-z])", "", lines[2])
    low = unicodedata.normalize("NFKC", code).casefold()
    for tag in ("</hindsight-memor", "<hindsight-memor", "<system", "</system", "<|im_start"):
        assert tag not in low, lines[2]
    # What was cleaned stays as it is.
    assert sanitiser().fact_text(text, limit=5_000) == text


@cache
def templates() -> Prompts:
    from hindsight_core.config.layers import load

    return Prompts.from_loaded(load(cwd=folder(), env=environment()), plugin_dirs=[])


TARGETS: dict[str, Callable[[bytes], None]] = {
    "bridge": bridge,
    "readers": readers,
    "dialects": dialects,
    "answers": answers,
    "blocks": blocks,
}
