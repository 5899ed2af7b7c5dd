"""Every figure of the README's chapter on quality and speed, from one command.

usage: python tests/bench/figures.py [--eval DIR] [--locomo FILE] [--server VENV] [--hosts DIR]
                                     [--sizes 1000,10000,100000,300000] [--only NAMES] [--out DIR]

Runs the benchmarks beside this file one after another, prints their tables, and writes them to
OUT/figures.md with the plots as SVG beside it. What has no data is skipped with the reason. Takes
about half an hour on two cores; nothing else should run. Plots need ``pip install --group bench``.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from plots import PLOTS
from tables import Table, tables

HERE = Path(__file__).parent


def parts(options: argparse.Namespace) -> dict[str, list[str] | str]:
    """Command of each part, or why it is skipped."""
    data = ["--eval", str(options.eval)]
    locomo = ["--locomo", str(options.locomo)]
    server = ["--server", str(options.server)] if options.server else []
    no_data, no_locomo = "no --eval", "no --locomo"
    return {
        "retrieval": ["retrieval.py", *data] if options.eval else no_data,
        "retrieval-semantic": ["retrieval.py", *data, "--semantic"] if options.eval else no_data,
        "locomo": ["retrieval.py", *locomo] if options.locomo else no_locomo,
        "locomo-semantic": (
            ["retrieval.py", *locomo, "--semantic"] if options.locomo else no_locomo
        ),
        "sessions": ["sessions.py", *data] if options.eval else no_data,
        "peers": ["peers.py", *(data if options.eval else []), *server],
        "scale": ["speed.py", "--sizes", options.sizes],
        "scale-vectors": ["speed.py", "--vectors", "--sizes", options.vector_sizes],
        "bridge": ["bridge.py"],
        "hooks": ["hooks.py"],
        "calls": ["calls.py"],
        "turns": ["turns.py", str(options.hosts)] if options.hosts else "no --hosts",
    }


def run(name: str, command: list[str] | str) -> str:
    """What a part printed; never raises, because the other parts are wanted all the same."""
    if isinstance(command, str):
        return f"skipped: {command}"
    script = [sys.executable, str(HERE / command[0]), *command[1:]]
    print(f"\n== {name}: {' '.join(command)}", flush=True)
    start = time.monotonic()
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    print(done.stdout, f"({time.monotonic() - start:.0f} s)", flush=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        said = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
        return f"{done.stdout}\nfailed: {said[-1]}"
    return done.stdout


def report(found: dict[str, str], drawn: dict[str, Path]) -> str:
    """The tables and plots as one Markdown page."""
    now = datetime.now(UTC)
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    text = [f"# Figures\n\nMade by `tests/bench/figures.py` on {now:%Y-%m-%d}; {machine}.\n"]
    for name, said in found.items():
        text.append(f"## {name}\n\n{said.strip()}\n")
    text += [f"![{name}]({path.name})\n" for name, path in drawn.items()]
    return "\n".join(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--eval", type=Path, help="folder of the coding evaluation set")
    parser.add_argument("--locomo", type=Path, help="locomo10.json")
    parser.add_argument("--server", type=Path, help="environment with a Hindsight server")
    parser.add_argument("--hosts", type=Path, help="folder with real agents, .ci/cache/hosts")
    parser.add_argument("--sizes", default="1000,10000,100000,300000")
    parser.add_argument("--vector-sizes", default="1000,10000,50000")
    parser.add_argument("--only", help="names of parts, with commas")
    parser.add_argument("--out", type=Path, default=HERE / "figures")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else None
    found = {
        name: run(name, command)
        for name, command in parts(options).items()
        if wanted is None or name in wanted
    }
    options.out.mkdir(parents=True, exist_ok=True)
    read: dict[str, list[Table]] = {name: tables(said) for name, said in found.items()}
    drawn = {}
    for name, plot in PLOTS.items():
        path = options.out / f"{name}.svg"
        try:
            plot(read, path)
            drawn[name] = path
        except (KeyError, IndexError) as missing:
            print(f"no plot {name}: {missing} was not measured")
        except ImportError as error:
            print(f"no plot {name}: {error}; pip install --group bench")
    (options.out / "figures.md").write_text(report(found, drawn), encoding="utf-8")
    print(f"\nwritten: {options.out / 'figures.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
