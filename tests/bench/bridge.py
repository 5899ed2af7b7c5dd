"""What the bridge costs: start, a warm turn, memory. Prints a markdown table.

Run ``python tests/bench/bridge.py [--facts 10000] [--turns 200]``.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.identity import fact_id
from hindsight_core.memory import Document, Fact
from hindsight_core.testing.bridge import BridgeProcess

SYLLABLES = "ba ce di fo gu ka le mi no pu ra se ti vo wu za che dri flo gra".split()
PORT = "listens on port"


def vocabulary(size: int = 6_000) -> list[str]:
    """Made-up words, the commonest first."""
    pick = random.Random(7)
    words: dict[str, None] = {}
    while len(words) < size:
        words["".join(pick.choices(SYLLABLES, k=pick.choice((2, 3, 3, 4))))] = None
    return list(words)


WORDS = vocabulary()
# As in real text the n-th commonest word is about 1/n as common as the first.
WEIGHTS = [1 / (rank + 8) for rank in range(len(WORDS))]


def words(number: int) -> list[str]:
    """Content words of a fact."""
    return random.Random(number).choices(WORDS, WEIGHTS, k=11)


def sentence(number: int) -> str:
    """A fact as people write them: a few words of many, and a number."""
    text = words(number)
    return f"The {text[0]} {text[1]} {PORT} {number} " + " ".join(text[2:]) + "."


def question(number: int) -> str:
    """What somebody would ask about it."""
    text = words(number)
    return f"Which port does the {text[0]} {text[1]} use for {text[4]} {text[5]}?"


async def store(path: Path, texts: Sequence[str]) -> None:
    """A bank of these facts."""
    bank = SqliteBank("demo", path)
    for start in range(0, len(texts), 1000):
        some = texts[start : start + 1000]
        facts = tuple(Fact(id=fact_id(text), text=text) for text in some)
        await bank.retain(Document(id=f"d{start}", text="", facts=facts))
    await bank.close()


def imports_ms() -> float:
    """A Python that imports what a bridge needs at once, and ends."""
    code = "import asyncio, click, pluggy, pydantic, sqlite3"
    times = []
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def start(home: Path) -> BridgeProcess:
    """A bridge over the home."""
    project = home / "shop"
    (project / ".git").mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "HINDSIGHT_MEM_HOME": str(home), "HINDSIGHT_MEM_BANK__ID": "demo"}
    return BridgeProcess(env=env, cwd=project)


def opened_ms(home: Path) -> float:
    """From the start of the process to the answer of ``initialize``."""
    started = time.perf_counter()
    with start(home) as bridge:
        _open(bridge)
        took = (time.perf_counter() - started) * 1000
        bridge.close()
    return took


def turns_ms(home: Path, turns: int) -> tuple[list[float], float]:
    """Times of warm turns, and the resident megabytes afterwards."""
    times = []
    with start(home) as bridge:
        _open(bridge)
        bridge.call("session/start", {"reason": "startup", "entries": []})
        entries: list[dict[str, object]] = []
        for turn in range(turns + 5):
            prompt = question(turn * 37)
            params = {"turnId": f"t{turn}", "prompt": prompt, "entries": entries[-20:]}
            started = time.perf_counter()
            result = bridge.call("turn/start", params)
            times.append((time.perf_counter() - started) * 1000)
            assert result["outcome"] in ("degraded", "empty"), result
            part = {"type": "text", "text": prompt}
            entries.append({"id": f"e{turn}", "role": "user", "parts": [part]})
        status = Path(f"/proc/{bridge.process.pid}/status").read_text()
        resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        bridge.close()
    return times[5:], int(resident.split()[1]) / 1024


def _open(bridge: BridgeProcess) -> None:
    bridge.call("initialize", {"protocol": 1, "session": {"id": "bench"}})


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        texts = [sentence(n) for n in range(options.facts)]
        asyncio.run(store(home / "banks" / "demo.db", texts))
        first = [opened_ms(home) for _ in range(7)]
        times, resident = turns_ms(home, options.turns)
    ordered = sorted(times)
    p95 = ordered[int(len(ordered) * 0.95)]
    print(f"| {options.facts} facts, {options.turns} turns | measured | bound |")
    print("|---|---|---|")
    print(f"| start to `initialize`, median | {statistics.median(first):.0f} ms | 400 ms |")
    print(f"| imports alone | {imports_ms():.0f} ms | |")
    print(f"| warm turn, median | {statistics.median(times):.1f} ms | |")
    print(f"| warm turn, p95 | {p95:.1f} ms | 10 ms |")
    print(f"| resident | {resident:.0f} MB | 90 MB |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
