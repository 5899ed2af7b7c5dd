"""Attack every writer and everything that a writer stands on; count what was lost.

    python tests/faults/run.py [--seed N] [--kills 200] [--only kills|disasters] [--json]

Every promise counts as kept when it is in the bank exactly once after the next start. The seed
chooses who is attacked when; no two runs meet in quite the same way. Exit status 1 when anything
that was acknowledged is lost or doubled, or a turn was blocked.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import kills as deliveries
from disasters import DISASTERS
from home import Home, Tally
from writers import Writers

ROUND = 25
AT_ONCE = 2


def kills(tally: Tally, wanted: int, seeds: random.Random, *, writer: str | None) -> None:
    while tally.kills < wanted:
        folder = Path(tempfile.mkdtemp(prefix="faults"))
        home = Home(folder, tally, seeds.randrange(2**32))
        writers = Writers(home)
        most = min(wanted, tally.kills + ROUND)
        names = [writer] if writer else sorted(writers.by_name)

        def attack(writers: Writers = writers, most: int = most, names: list[str] = names) -> None:
            while tally.kills < most and not tally.problems:
                # What was killed least comes first.
                rare = min(names, key=lambda name: tally.by_writer.get(name, 0))
                name = rare if seeds.random() < 0.4 else seeds.choice(names)
                writers.attack(name)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            for done in [pool.submit(attack) for _ in range(AT_ONCE)]:
                done.result()
        finish(home, writers, folder)
        if tally.problems:
            return


def delivery(tally: Tally, wanted: int, seed: int) -> None:
    """Journal, queue and outbox themselves, over a bank that is away now and then."""
    random.seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        part, promised = deliveries.attack(home, kills=wanted, processes=AT_ONCE, flaky=10)
        deliveries.settle(home, part)
        deliveries.count(home, part, promised)
    tally.by_writer["delivery"] = part.kills
    tally.problems += part.problems
    if part.pending or part.dead:
        tally.problems.append(f"delivery: {part.pending} pending, {part.dead} dead")
    for name in ("kills", "acknowledged", "lost", "doubled", "given_up"):
        setattr(tally, name, getattr(tally, name) + getattr(part, name))
    tally.inputs += part.in_bank


def disasters(tally: Tally, seeds: random.Random, *, name: str | None) -> None:
    for called, work in DISASTERS.items():
        if name in (None, called):
            folder = Path(tempfile.mkdtemp(prefix="faults"))
            home = Home(folder, tally, seeds.randrange(2**32))
            writers, began = Writers(home), time.monotonic()
            tally.faults += 1
            if why := work(home, writers):
                tally.skipped.append(f"{called}: {why}")
                continue
            finish(home, writers, folder)
            tally.by_disaster[called] = round(time.monotonic() - began)


def finish(home: Home, writers: Writers, folder: Path) -> None:
    writers.settle()
    until = time.monotonic() + 20
    while home.daemons() and time.monotonic() < until:
        for pid in home.daemons():
            os.kill(pid, signal.SIGTERM)
        time.sleep(0.1)
    home.count()
    if home.tally.good:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    chosen = os.environ.get("HINDSIGHT_TEST_SEED") or random.SystemRandom().randrange(2**31)
    parser.add_argument("--seed", type=int, default=int(chosen), help="also HINDSIGHT_TEST_SEED")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--only", choices=("kills", "disasters"))
    parser.add_argument("--writer", help="only this one is killed")
    parser.add_argument("--disaster", help="only this one happens")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    seeds = random.Random(options.seed)
    tally, began = Tally(seed=options.seed), time.monotonic()
    if options.only != "disasters":
        if not options.writer:
            delivery(tally, options.kills // 4, options.seed)
        kills(tally, options.kills, seeds, writer=options.writer)
    if options.only != "kills":
        disasters(tally, seeds, name=options.disaster)
    tally.seconds = round(time.monotonic() - began)
    if options.json:
        print(json.dumps(asdict(tally)))
    else:
        report(tally)
    return 0 if tally.good else 1


def report(tally: Tally) -> None:
    for name, value in asdict(tally).items():
        if name not in ("problems", "skipped"):
            print(f"{name:<14}{value}")
    for problem in tally.problems:
        print(f"PROBLEM {problem}")
    for skipped in tally.skipped:
        print(f"SKIPPED {skipped}")
    counts = f"{tally.kills} kills, {tally.faults} faults, {tally.inputs} inputs"
    print(f"{counts}: lost {tally.lost}, doubled {tally.doubled}, blocked {tally.blocked}")


if __name__ == "__main__":
    sys.exit(main())
