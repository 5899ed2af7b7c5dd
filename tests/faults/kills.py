"""Kill writers at random points and count what was lost or stored twice.

    python tests/faults/kills.py --kills 100 [--processes 2] [--seed N] [--json]

Half of the kills come from outside after a random time, half from inside at a random SQL
statement. Sessions are resumed or left for others to recover. Exit status 1 when anything that
was acknowledged is lost, stored twice, or a file is not sound.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")


@dataclass
class Tally:
    kills: int = 0
    clean_ends: int = 0
    acknowledged: int = 0
    in_bank: int = 0
    lost: int = 0
    doubled: int = 0
    given_up: int = 0  # dead letters, delivered after `queue retry`
    pending: int = 0
    dead: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not (self.lost or self.doubled or self.pending or self.dead or self.problems)


def spawn(home: Path, *arguments: object) -> subprocess.Popen[bytes]:
    # Output goes to a file: a killed writer's last lines must not be lost in a pipe.
    out = tempfile.TemporaryFile()
    process = subprocess.Popen(
        [sys.executable, str(WORKER), str(home), *map(str, arguments)],
        stdout=out,
        stderr=subprocess.STDOUT,
    )
    process.said = out  # type: ignore[attr-defined]
    return process


def output(process: subprocess.Popen[bytes]) -> list[str]:
    process.said.seek(0)  # type: ignore[attr-defined]
    text: str = process.said.read().decode(errors="replace")  # type: ignore[attr-defined]
    return text.splitlines()


def close(process: subprocess.Popen[bytes]) -> None:
    process.said.close()  # type: ignore[attr-defined]


def entries_of(line: str) -> list[str]:
    """Entries that an ``ACK`` or ``TURN`` line vouches for."""
    words = line.split()
    session, last = words[-1].rsplit(".", 1)
    first = int(words[1].rsplit(".", 1)[1]) if words[0] == "ACK" else 1
    return [f"{session}.{i:05d}" for i in range(first, int(last) + 1)]


def attack(home: Path, *, kills: int, processes: int, flaky: int) -> tuple[Tally, set[str]]:
    tally, promised = Tally(), set[str]()
    sessions = [f"s{n}" for n in range(processes)]
    number = processes
    while tally.kills < kills:
        running = [start(home, session, flaky=flaky) for session in sessions]
        kill_in_time(running)
        for place, process in enumerate(running):
            judge(process, tally, promised)
            if process.returncode == 0 or random.random() < 0.3:
                sessions[place], number = f"s{number}", number + 1
    return tally, promised


def start(home: Path, session: str, *, flaky: int) -> subprocess.Popen[bytes]:
    inside = ["--die-at", random.randint(10, 900)] if random.random() < 0.5 else []
    return spawn(home, "write", session, "--flaky", flaky, *inside)


def kill_in_time(running: list[subprocess.Popen[bytes]]) -> None:
    limit = time.monotonic() + random.uniform(0.15, 1.2)
    for process in running:
        try:
            process.wait(max(0.0, limit - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def judge(process: subprocess.Popen[bytes], tally: Tally, promised: set[str]) -> None:
    lines = output(process)
    close(process)
    if process.returncode == -9:
        tally.kills += 1
    elif lines and lines[-1] == "END":
        tally.clean_ends += 1
    else:
        tally.problems.append("\n".join(lines[-15:]))
    for line in lines:
        if line.startswith(("ACK ", "TURN ")):
            promised.update(entries_of(line))


def settle(home: Path, tally: Tally) -> None:
    """Recover and drain until nothing is left, as the next start of a host would."""
    for _ in range(5):
        process = spawn(home, "recover")
        process.wait(120)
        lines = output(process)
        close(process)
        left = [line for line in lines if line.startswith("LEFT ")]
        if not left:
            tally.problems.append("\n".join(lines[-15:]))
            return
        tally.pending, tally.dead, journal, given_up = (int(n) for n in left[-1].split()[1:])
        tally.given_up += given_up
        if not tally.pending and not journal:
            return
        tally.pending += journal


def count(home: Path, tally: Tally, promised: set[str]) -> None:
    for file in ("queue.db", "state.db", "shop.db"):
        with closing(sqlite3.connect(home / file)) as connection:
            sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
        if sound != "ok":
            tally.problems.append(f"{file}: {sound}")
    with closing(sqlite3.connect(home / "shop.db")) as connection:
        texts = [row[0] for row in connection.execute("SELECT text FROM documents")]
        facts = [row[0] for row in connection.execute("SELECT text FROM facts")]
    held = Counter(key for text in texts for key in re.findall(r"fact of (\S+)", text))
    known = Counter(key for text in facts for key in re.findall(r"fact of (\S+)", text))
    tally.acknowledged = len(promised)
    tally.in_bank = len(held)
    tally.lost = sum(1 for key in promised if not held[key] or not known[key])
    tally.doubled = sum(1 for key in held | known if held[key] > 1 or known[key] > 1)
    aside = [path.name for path in home.iterdir() if ".corrupt-" in path.name]
    tally.problems += [f"set aside: {name}" for name in aside]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--flaky", type=int, default=10, help="percent of failing bank writes")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        tally, promised = attack(
            home, kills=options.kills, processes=options.processes, flaky=options.flaky
        )
        settle(home, tally)
        count(home, tally, promised)
    if options.json:
        print(json.dumps(asdict(tally)))
    else:
        for name, value in asdict(tally).items():
            print(f"{name:<14}{value}")
        print(f"{tally.kills} kills: lost {tally.lost}, doubled {tally.doubled}")
    return 0 if tally.good else 1


if __name__ == "__main__":
    sys.exit(main())
