"""Coverage-guided fuzzing with atheris: ``run.py TARGET [--seconds N] [--seed N] [--keep DIR]``.

Inputs that reach new code are kept in ``--keep`` (a temporary folder by default); what breaks a
target is written there as ``crash-*`` and belongs into ``corpus/TARGET`` together with its fix.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import atheris  # type: ignore[import-not-found]

with atheris.instrument_imports(include=["hindsight_core", "hindsight_host_generic"]):
    from targets import TARGETS

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0, help="0 for another one each time")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    # Millions of inputs are refused with a line each.
    logging.disable(logging.CRITICAL)
    keep = options.keep or Path(tempfile.mkdtemp(prefix=f"fuzz-{options.target}-"))
    keep.mkdir(parents=True, exist_ok=True)
    corpus = HERE / "corpus" / options.target
    flags = [
        f"-max_total_time={options.seconds}",
        f"-seed={options.seed}",
        "-max_len=20000",
        "-timeout=60",
        f"-artifact_prefix={keep}/",
        f"-dict={HERE / 'words.dict'}",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *flags, str(keep), str(corpus)], TARGETS[options.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
