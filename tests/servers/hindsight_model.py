"""The model behind a Hindsight server in tests: deterministic, offline, OpenAI-compatible.

    python tests/servers/hindsight_model.py --port 8765

What it answers: a fact for each line of a text that is given for extraction (headings of bullets
are no facts), an observation for each new fact, a reflection that quotes what the tools found,
and embeddings in which texts with common words are near each other. `FAIL500` in a prompt is
answered with status 500.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import re
import struct
from functools import cache

from hindsight_core.testing.embedders import hash_vector
from hindsight_core.testing.model_server import ModelServer, Recorded

DIMENSIONS = 384
# Up to 0.8 "the following text chunk"; the text stands after it.
EXTRACTION = re.compile(r"Extract facts from the following (?:text )?chunk\.")
CONSOLIDATION = "### New facts"
UUID = r"[0-9a-f]{8}-[0-9a-f-]{27}"


class HindsightModel(ModelServer):
    """Answers what a Hindsight server asks its model and its embedder."""

    def __init__(self, *, port: int = 0):
        super().__init__({"*": chat}, port=port, model="stub")

    def answer(self, request: Recorded):
        if not request.path.endswith("/embeddings"):
            return super().answer(request)
        given = request.body.get("input") or []
        texts = [given] if isinstance(given, str) else given
        vectors = [vector(str(text)) for text in texts]
        if request.body.get("encoding_format") == "base64":
            vectors = [
                base64.b64encode(struct.pack(f"<{DIMENSIONS}f", *v)).decode() for v in vectors
            ]
        rows = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
        return reply({"object": "list", "data": rows, "model": "stub", "usage": USAGE})


USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


@cache
def embedder():
    """Real vectors instead of hashed words, where a benchmark asks for them."""
    if os.environ.get("HINDSIGHT_TEST_EMBEDDER") != "semantic":
        return None
    from hindsight_core.providers.semantic import SemanticEmbedder

    return SemanticEmbedder()


def vector(text: str):
    """Short words say little about a text."""
    if (real := embedder()) is not None:
        return asyncio.run(real.embed([text], kind="document"))[0]
    words = [word.rstrip("s") for word in re.findall(r"\w+", text.lower()) if len(word) > 3]
    return hash_vector(" ".join(words), DIMENSIONS)


def chat(request: Recorded):
    """Tell the server's requests apart by what they say."""
    asked = [str(m.get("content")) for m in request.body.get("messages", []) if m["role"] == "user"]
    text = asked[-1] if asked else ""
    if any("FAIL500" in part for part in asked):
        return {"status": 500, "body": '{"error": {"message": "scripted failure"}}'}
    if request.body.get("tools"):
        return tool_turn(request, text)
    if EXTRACTION.search(text):
        return {
            "facts": [
                extracted(line)
                for line in lines(re.split(r"\n(?:Content|Text):\n", text, maxsplit=1)[-1])
            ]
        }
    if CONSOLIDATION in text:
        return consolidated(text)
    return {"body": completion({"content": json.dumps(OTHER)}), "headers": JSON}


def lines(text: str):
    cleaned = (re.sub(r"^\s*[-*]\s+", "", line).strip() for line in text.splitlines())
    return [line for line in cleaned if len(line) > 3 and not line.startswith("#")]


def extracted(line: str):
    unknown = dict.fromkeys(("when", "where", "who", "why"), "N/A")
    names = list(dict.fromkeys(re.findall(r"\b[A-Z]\w{2,}", line)))[:5]
    kind = {"fact_kind": "conversation", "fact_type": "world"}
    return {"what": line, **unknown, **kind, "entities": names}


def consolidated(text: str):
    new, _, old = text.partition("### Existing observations")
    known = {m[1]: m[0] for m in re.findall(rf'"id":\s*"({UUID})",\s*"text":\s*"([^"]*)"', old)}
    creates, updates = [], []
    for fact, line in re.findall(rf"^\[({UUID})\]\s*(.+)$", new, re.MULTILINE):
        said = re.split(r"\s+\((?:occurred|mentioned)", line)[0].strip()
        entry = {"text": said, "source_fact_ids": [fact], "reason": "scripted"}
        if said in known:
            updates.append({**entry, "observation_id": known[said]})
        else:
            creates.append(entry)
    return {"creates": creates, "updates": updates, "deletes": []}


def tool_turn(request: Recorded, question: str):
    """Call the tool that is asked for; finish with what the tools found."""
    offered = [tool["function"]["name"] for tool in request.body["tools"]]
    choice = request.body.get("tool_choice")
    told = [str(m.get("content")) for m in request.body["messages"] if m["role"] == "tool"]
    if isinstance(choice, dict):
        name = choice["function"]["name"]
    elif not told and "recall" in offered:
        name = "recall"
    else:
        name = "done" if "done" in offered else offered[0]
    arguments = {"reason": "scripted", "query": question[:400]}
    if name == "done":
        found = "\n".join(told)
        texts = list(dict.fromkeys(re.findall(r'"text":\s*"((?:[^"\\]|\\.)*)"', found)))[:3]
        arguments = {
            "answer": "; ".join(texts) or "Nothing is known about this.",
            "memory_ids": list(dict.fromkeys(re.findall(rf'"id":\s*"({UUID})"', found)))[:10],
            "answer_found": bool(texts),
        }
    call = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": "call_1", "type": "function", "function": call}]
    return {"body": completion({"content": None, "tool_calls": calls}), "headers": JSON}


def completion(message):
    finish = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    whole = {"id": "scripted", "object": "chat.completion", "created": 0, "model": "stub"}
    return json.dumps({**whole, "choices": [choice], "usage": USAGE})


OTHER = {"action": "keep", "text": "", "reason": "scripted", "answer": "scripted"}
JSON = {"content-type": "application/json"}


def reply(value):
    return 200, JSON, json.dumps(value).encode()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    model = HindsightModel(port=parser.parse_args().port)
    print(model.url, flush=True)
    model.serve()
