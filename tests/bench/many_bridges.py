"""Many bridges at once on one home: nothing lost, nothing doubled, no lock error.

Run ``python tests/bench/many_bridges.py [--bridges 8] [--turns 20]``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.testing.bridge import BridgeProcess

NAMES = "heron otter lynx badger raven marten stoat ibex osprey tapir".split()
THINGS = (
    "ledger invoices thumbnails sessions backups metrics avatars manuals coupons receipts".split()
)
PLACES = "Lisbon Oslo Turin Ghent Malmo Porto Graz Lyon Bern Cork".split()


def rule(bridge: int, turn: int) -> str:
    """Something to remember that no other bridge and no other turn says."""
    number = bridge * 100 + turn
    name, thing = NAMES[number % 10], THINGS[(number // 10) % 10]
    place = PLACES[(number // 100 + turn) % 10]
    return f"the {name}{number} server in {place} keeps the {thing}"


def drive(number: int, turns: int, env: dict[str, str], project: Path) -> dict[str, object]:
    """One session; what it was told and what went wrong."""
    entries: list[dict[str, object]] = []
    acknowledged = 0
    with BridgeProcess(env=env, cwd=project) as bridge:
        session = {"id": f"session-{number}"}
        bridge.call("initialize", {"protocol": 1, "cwd": str(project), "session": session})
        bridge.call("session/start", {"reason": "startup", "entries": []})
        for turn in range(turns):
            said = f"Remember that {rule(number, turn)}."
            prompt = {"turnId": f"t{turn}", "prompt": said, "entries": entries}
            outcome = bridge.call("turn/start", prompt)["outcome"]
            assert outcome != "failed", outcome
            for role, text in (("user", said), ("assistant", "Noted.")):
                part = {"type": "text", "text": text}
                name = f"{number}-{len(entries)}"
                entries.append({"id": name, "role": role, "parts": [part]})
            bridge.call("turn/end", {"turnId": f"t{turn}", "entries": entries, "aborted": False})
            note = f"Note {number}.{turn}: {rule(number, turn + 50)}."
            arguments = {"name": "hindsight_retain", "arguments": {"content": note}}
            result = bridge.call("tool/call", arguments)
            acknowledged += result["details"]["outcome"] in ("stored", "queued")
            if turn % 7 == 3:
                bridge.call("compact/before", {"entries": entries, "reason": "manual"})
                bridge.call("compact/after")
        ended = bridge.call("session/end", {"reason": "quit"}, timeout_s=90)
        bridge.close()
    return {
        "acknowledged": acknowledged,
        "ended": ended,
        "notices": bridge.notices("warning", "error"),
    }


def run(home: Path, *, bridges: int, turns: int) -> dict[str, object]:
    """All of them; a report of what is in the bank."""
    project = home / "shop"
    (project / ".git").mkdir(parents=True)
    env = {**os.environ, "HINDSIGHT_MEM_HOME": str(home), "HINDSIGHT_MEM_BANK__ID": "demo"}
    results: list[dict[str, object]] = []
    threads = [
        threading.Thread(target=lambda n=n: results.append(drive(n, turns, env, project)))
        for n in range(bridges)
    ]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.monotonic() - started
    facts = asyncio.run(_facts(home))
    said = [rule(n, t) for n in range(bridges) for t in range(turns)]
    noted = [rule(n, t + 50) for n in range(bridges) for t in range(turns)]
    held = Counter(wanted for wanted in said + noted for text in facts if wanted in text)
    return {
        "bridges": bridges,
        "turns": turns,
        "seconds": round(took, 1),
        "sessions": len(results),
        "acknowledged": sum(int(str(r["acknowledged"])) for r in results),
        "pending": left(env, project),
        "expected": len(said) + len(noted),
        "missing": [wanted for wanted in said + noted if held[wanted] == 0],
        "doubled": [wanted for wanted, count in held.items() if count > 1],
        "notices": [text for r in results for text in r["notices"]],  # type: ignore[attr-defined]
    }


async def _facts(home: Path) -> list[str]:
    bank = SqliteBank("demo", home / "banks" / "demo.db")
    page = await bank.list_facts(limit=10_000)
    await bank.close()
    return [fact.text[0].lower() + fact.text[1:] for fact in page.facts]


def left(env: dict[str, str], project: Path) -> object:
    """What is pending once every bridge is gone."""
    with BridgeProcess(env=env, cwd=project) as bridge:
        session = {"id": "last"}
        bridge.call("initialize", {"protocol": 1, "cwd": str(project), "session": session})
        return bridge.call("status/get")["pending"]


def main() -> int:
    """Run and print; exit code 1 when something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bridges", type=int, default=8)
    parser.add_argument("--turns", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = run(Path(folder), bridges=options.bridges, turns=options.turns)
    print(json.dumps(report, indent=2))
    return int(any(report[name] for name in ("missing", "doubled", "notices", "pending")))


if __name__ == "__main__":
    sys.exit(main())
