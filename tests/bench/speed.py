"""How fast the embedded bank is at 1,000, 10,000 and 100,000 facts, as a table.

usage: python tests/bench/speed.py [--sizes 1000,10000,100000] [--queries 200] [--vectors]

Facts are made of a vocabulary with the word frequencies of plain text; queries are five to nine
of its words, like questions. No model; with ``--vectors`` 384 numbers for each fact, made of its
words at next to no cost.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.memory import Document, Fact, Query, Scope, TagFilter
from hindsight_core.testing import HashEmbedder

WORDS = 20_000
START = datetime(2026, 1, 1, tzinfo=UTC)


class Language:
    """Words of two to four syllables; the nth is about n times rarer than the first."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        syllables = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "er")]
        self.words = [
            "".join(self.random.choices(syllables, k=self.random.randint(2, 4)))
            for _ in range(WORDS)
        ]
        self.weights = [1 / (n + 10) for n in range(WORDS)]

    def text(self, shortest: int, longest: int) -> str:
        count = self.random.randint(shortest, longest)
        return " ".join(self.random.choices(self.words, self.weights, k=count))


def facts(language: Language, size: int) -> list[Fact]:
    return [
        Fact(
            id=f"f{n}",
            text=f"{language.text(10, 30)} in src/module_{n % 211}/part{n % 1009}.py",
            tags=(f"area:{n % 17}",),
            document_id=f"d{n // 8}",
            timestamp=START + timedelta(minutes=n),
        )
        for n in range(size)
    ]


async def timed(work) -> float:
    start = time.perf_counter()
    await work
    return (time.perf_counter() - start) * 1000


async def measure(
    size: int, count: int, folder: Path, embedder: HashEmbedder | None = None
) -> list[str]:
    language = Language(size)
    held = facts(language, size)
    bank = SqliteBank("speed", folder / f"{size}.db", embedder=embedder)
    start = time.perf_counter()
    await bank.import_facts(held)
    if embedder is not None:
        await bank.reembed()
    rate = size / (time.perf_counter() - start)
    questions = [language.text(5, 9) for _ in range(count)]
    tagged = Scope(tags=TagFilter(("area:3",), "any_strict"))
    cold = await timed(bank.recall(Query(questions[0])))
    recalls = sorted([await timed(bank.recall(Query(q))) for q in questions])
    scoped = sorted([await timed(bank.recall(Query(q, scope=tagged))) for q in questions[:50]])
    stores = []
    for n in range(50):
        new = Fact(id=f"new{n}", text=language.text(10, 30))
        document = Document(id=f"new{n}", text=new.text, facts=(new,))
        stores.append(await timed(bank.retain(document)))
    counts = [await timed(bank.stats()) for _ in range(20)]
    listed = await timed(bank.list_facts(limit=50))
    deleted = await timed(bank.delete_fact("f7"))
    await bank.close()
    return [
        f"{size:,}",
        f"{rate:,.0f}",
        f"{cold:.1f}",
        f"{recalls[len(recalls) // 2]:.1f}",
        f"{recalls[int(len(recalls) * 0.95)]:.1f}",
        f"{scoped[len(scoped) // 2]:.1f}",
        f"{sorted(stores)[25]:.1f}",
        f"{max(counts):.1f}",
        f"{listed:.1f}",
        f"{deleted:.0f}",
        f"{(folder / f'{size}.db').stat().st_size / 1e6:.1f}",
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--vectors", action="store_true", help="a vector for each fact")
    options = parser.parse_args()
    embedder = HashEmbedder(384) if options.vectors else None
    columns = ["facts", "import/s", "cold ms", "p50 ms", "p95 ms", "by tag p50 ms", "store ms"]
    columns += ["count ms", "list ms", "delete ms", "MB"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for size in map(int, options.sizes.split(",")):
            row = asyncio.run(measure(size, options.queries, Path(folder), embedder))
            print("| " + " | ".join(row) + " |", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory of this process {peak:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
