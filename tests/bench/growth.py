"""How a home grows: ``python tests/bench/growth.py [--turns 10000]``, over real bridges.

Sessions of 500 turns, memorized every 10 turns without a model: every fifth turn states something
that is kept, the others are talk. Prints the size of each file after every tenth of the turns.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from hindsight_core.testing.bridge import BridgeProcess

SESSION = 500
TALK = "Go on with part {n} of the migration, and look at the tests of the importer once more. " * 3
FACT = "Remember that setting number {n} of the importer is {v}, because of ticket {n}."
ANSWER = "Done with part {n}: the importer reads its settings, the tests pass. " * 6


def entry(number: int, role: str, text: str) -> dict[str, Any]:
    parts = [{"type": "text", "text": text}]
    parent = f"e{number - 1}" if number % (2 * SESSION) else None
    return {"id": f"e{number}", "parentId": parent, "role": role, "parts": parts}


def turns(home: Path, first: int, count: int) -> None:
    env = {**os.environ, "HINDSIGHT_MEM_HOME": str(home / "memory"), "HOME": str(home)}
    env |= {"HINDSIGHT_MEM_BANK__ID": "grows", "HINDSIGHT_MEM_MEMORIZE__EVERY_TURNS": "10"}
    with BridgeProcess(env=env, cwd=home) as bridge:
        session = {"id": f"s{first}"}
        bridge.call("initialize", {"session": session, "cwd": str(home), "capabilities": {}})
        bridge.call("session/start", {"reason": "startup", "entries": []})
        last: dict[str, Any] = {}
        for n in range(first, first + count):
            said = FACT if n % 5 == 0 else TALK
            prompt = said.format(n=n, v=n * 7)
            asked = {"turnId": f"t{n}", "prompt": prompt, "entries": [], **last}
            bridge.call("turn/start", asked)
            pair = [entry(2 * n, "user", prompt), entry(2 * n + 1, "assistant", ANSWER.format(n=n))]
            bridge.call("turn/end", {"turnId": f"t{n}", "entries": pair, **last})
            last = {"since": pair[-1]["id"]}
        bridge.call("session/end", {"reason": "quit"}, timeout_s=120)


def sizes(memory: Path) -> dict[str, int]:
    found = {"bank": 0, "queue": 0, "state": 0, "logs": 0}
    for file in memory.rglob("*"):
        if file.is_file():
            folder = "bank" if file.parent.name == "banks" else file.name.partition(".")[0]
            name = "logs" if file.parent.name == "logs" else folder
            found[name] = found.get(name, 0) + file.stat().st_size
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=10_000)
    options = parser.parse_args()
    step = max(SESSION, options.turns // 10)
    print(f"{'turns':>8}{'bank kB':>10}{'queue kB':>10}{'state kB':>10}{'logs kB':>10}{'s':>7}")
    with tempfile.TemporaryDirectory() as folder:
        home, began = Path(folder), time.monotonic()
        for first in range(0, options.turns, SESSION):
            turns(home, first, min(SESSION, options.turns - first))
            done = first + SESSION
            if done % step == 0:
                size = {name: count // 1000 for name, count in sizes(home / "memory").items()}
                row = "".join(f"{size[name]:>10}" for name in ("bank", "queue", "state", "logs"))
                print(f"{done:>8}{row}{time.monotonic() - began:>7.0f}", flush=True)


if __name__ == "__main__":
    main()
