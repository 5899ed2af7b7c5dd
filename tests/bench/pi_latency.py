"""What memory adds to a turn of the real pi with an instant model, on against off.

Run ``python tests/bench/pi_latency.py PI_FOLDER`` (the folder that holds pi's ``node_modules``).
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hindsight_core.testing.agent_server import AgentServer


def _pi_class() -> Any:
    path = Path(__file__).parents[1] / "e2e" / "conftest.py"
    spec = importlib.util.spec_from_file_location("e2e_conftest", path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.Pi


def measure(program: tuple[str, str], *, memory: bool, turns: int) -> list[float]:
    """Milliseconds of each warm turn."""
    with tempfile.TemporaryDirectory() as folder, AgentServer({"*": "Understood."}) as server:
        pi = _pi_class()(program, Path(folder), server)
        pi.env["HINDSIGHT_MEM_MODELS__PROVIDER"] = "none"
        if memory:
            pi.mem("install", "pi")
            pi.learn("The API gateway listens on port 8443 behind nginx.")
        rpc = pi.rpc()
        times = []
        for turn in range(turns + 2):
            started = time.perf_counter()
            rpc.prompt(f"What about item {turn} of the API gateway?")
            times.append((time.perf_counter() - started) * 1000)
        rpc.close()
        return times[2:]


def main() -> int:
    """Measure and print a markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--turns", type=int, default=40)
    options = parser.parse_args()
    modules = options.folder / "node_modules"
    entry = modules / "@earendil-works/pi-coding-agent/dist/bundle/cli.js"
    program = (str(modules / "node/bin/node"), str(entry))
    print("| a turn of pi | median | p95 |\n|---|---|---|")
    for memory in (False, True):
        times = sorted(measure(program, memory=memory, turns=options.turns))
        p95 = times[int(len(times) * 0.95)]
        name = "memory on" if memory else "without memory"
        print(f"| {name} | {statistics.median(times):.1f} ms | {p95:.1f} ms |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
