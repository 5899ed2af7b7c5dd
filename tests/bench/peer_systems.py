"""One memory library measured in a process of its own; started by ``peers.py``.

usage: python peer_systems.py SYSTEM TASK.json FOLDER     prints one JSON object

Needs nothing but the library that is measured. TASK holds texts, questions and vectors made
beforehand, so that what is timed is the library and not a model.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import time
import zlib
from datetime import datetime
from pathlib import Path

os.environ.update(MEM0_TELEMETRY="False", DO_NOT_TRACK="1", OPENAI_API_KEY="none")
SIZE = 384
HITS = 20


def hashed(text):
    """A vector that costs nothing, where only time is measured."""
    vector = [0.0] * SIZE
    for word in text.lower().split():
        number = zlib.crc32(word.encode())
        vector[number % SIZE] += 1.0 if number >> 31 else -1.0
    length = sum(x * x for x in vector) ** 0.5 or 1.0
    return [x / length for x in vector]


class Vectors:
    """Made beforehand by one model for all systems; hashed words for texts that are not there."""

    identity, dimensions, dim = "bench", SIZE, SIZE

    def __init__(self, known):
        self.known = known

    def one(self, text, kind):
        return self.known.get(f"{kind}:{text}") or hashed(text)

    async def embed(self, texts, *, kind):
        return [self.one(text, kind) for text in texts]


class Ours:
    """The embedded bank of this project, by words; with vectors as `OursWithVectors`."""

    vectors = False

    def __init__(self, folder, known):
        self.folder, self.known, self.banks = folder, known, {}
        self.loop = asyncio.new_event_loop()

    def bank(self, name):
        if name not in self.banks:
            from hindsight_core.banks.sqlite import SqliteBank

            embedder = Vectors(self.known) if self.vectors else None
            self.banks[name] = SqliteBank(name, self.folder / f"{name}.db", embedder=embedder)
        return self.banks[name]

    def add(self, bank, ident, text, *, category=None, tags=(), created_at=None):
        from hindsight_core.memory import Document, Fact

        said = datetime.fromisoformat(created_at) if created_at else None
        fact = Fact(
            id=ident,
            text=text,
            document_id=ident,
            category=category,
            tags=tuple(tags),
            timestamp=said,
        )
        document = Document(id=ident, text=text, context="", facts=(fact,), timestamp=said)
        self.loop.run_until_complete(self.bank(bank).retain(document))

    def search(self, bank, question, context=None):
        from hindsight_core.memory import Query

        query = Query(question, limit=HITS, context=context)
        hits = self.loop.run_until_complete(self.bank(bank).recall(query))
        return [hit.fact.text for hit in hits]

    def close(self):
        for bank in self.banks.values():
            self.loop.run_until_complete(bank.close())


class OursWithVectors(Ours):
    vectors = True


class Mem0:
    """mem0 with its local store; ``infer=False``: no model decides what is kept."""

    def __init__(self, folder, known):
        from mem0 import Memory

        store = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": SIZE}
        model = {"model": "none", "openai_base_url": "http://127.0.0.1:9/v1"}
        self.memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "embedder": {"provider": "openai", "config": {"model": "none"}},
                "llm": {"provider": "openai", "config": model},
                "history_db_path": str(folder / "history.db"),
            }
        )
        vectors, config = Vectors(known), self.memory.embedding_model.config

        class Embedder:
            def __init__(self):
                self.config = config

            def embed(self, text, memory_action=None):
                return vectors.one(text, "query" if memory_action == "search" else "document")

            def embed_batch(self, texts, memory_action=None):
                return [self.embed(text, memory_action) for text in texts]

        self.memory.embedding_model = Embedder()

    def add(self, bank, ident, text, **more):
        self.memory.add(text, user_id=bank, infer=False, metadata=more or None)

    def search(self, bank, question, context=None):
        found = self.memory.search(question, filters={"user_id": bank}, top_k=HITS)
        return [row["memory"] for row in found["results"]]

    def close(self):
        pass


class AgentRecall:
    """agentrecall-db with words and vectors fused by itself."""

    def __init__(self, folder, known):
        from agentrecall import Memory

        vectors = Vectors(known)

        class Embedder:
            dim = SIZE

            def embed(self, texts):
                kinds = ["document" if f"document:{t}" in known else "query" for t in texts]
                return [vectors.one(t, k) for t, k in zip(texts, kinds, strict=True)]

        self.memory = Memory(folder / "recall.db", embedder=Embedder())

    def add(self, bank, ident, text, *, tags=None, **more):
        self.memory.add(text, namespace=bank, tags=tags, metadata=more or None)

    def search(self, bank, question, context=None):
        hits = self.memory.search(question, k=HITS, namespace=bank)
        return [hit.record.content for hit in hits]

    def close(self):
        self.memory.close()


class Server(Ours):
    """A Hindsight server, through this project's bank for it."""

    def bank(self, name):
        if name not in self.banks:
            from hindsight_core.banks.hindsight.opening import open_hindsight
            from hindsight_core.config.settings import Settings
            from hindsight_core.services import Services

            section = {"base_url": os.environ["HINDSIGHT_URL"], "timeout_ms": 60_000}
            settings = Settings.model_validate({"hindsight": section})
            side = self.folder / f"{name}.hindsight"
            self.banks[name] = open_hindsight(settings, Services(), bank_id=name, side=side)
        return self.banks[name]


SYSTEMS = {
    "ours": Ours,
    "ours-vectors": OursWithVectors,
    "mem0": Mem0,
    "agentrecall": AgentRecall,
    "server": Server,
}


def timed(call, *arguments):
    start = time.perf_counter()
    result = call(*arguments)
    return result, (time.perf_counter() - start) * 1000


def middle(times):
    return sorted(times)[len(times) // 2]


def main(name, task, folder):
    folder = Path(folder)
    told = json.loads(Path(task).read_text(encoding="utf-8"))
    known = {}
    system = SYSTEMS[name](folder, known)
    adds = [timed(system.add, "speed", f"s{n}", t)[1] for n, t in enumerate(told["texts"])]
    searches = sorted(timed(system.search, "speed", asked)[1] for asked in told["questions"])
    memory = most_memory()
    known.update(json.loads(Path(task).with_suffix(".vectors").read_text(encoding="utf-8")))
    ranked = quality(system, told)
    system.close()
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    result = {
        "add_ms": middle(adds),
        "thousand_s": sum(adds) / len(adds),
        "search_ms": middle(searches),
        "search_p95_ms": searches[int(len(searches) * 0.95)],
        "memory_mb": memory,
        "disk_mb": size / 1e6,
        "ranked": ranked,
    }
    print(json.dumps(result))


def most_memory():
    """Megabytes; the usual call would count what the parent had when it forked."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def quality(system, told):
    """The facts found for each question, best first."""
    idents = {}
    for fact in told["facts"]:
        more = {key: fact[key] for key in ("category", "tags", "created_at")}
        system.add(fact["project"], fact["id"], fact["text"], **more)
        idents[fact["project"], fact["text"]] = fact["id"]
    ranked = []
    for query in told["queries"]:
        hits = system.search(query["project"], query["query"], query["context"])
        found = [idents.get((query["project"], text)) for text in hits]
        ranked.append({"query_id": query["id"], "ranked": list(dict.fromkeys(filter(None, found)))})
    return ranked


if __name__ == "__main__":
    main(*sys.argv[1:])
