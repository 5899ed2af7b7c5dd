"""How well the embedded bank finds things: a coding evaluation set and LoCoMo, as tables.

usage: python tests/bench/retrieval.py --eval DIR [--split dev] [--locomo FILE] [--semantic]

DIR holds ``score_retrieval.py`` and the split's folder with ``facts.jsonl`` and ``queries.jsonl``.
Blind: the bank is never told what was superseded. No language model; vectors with ``--semantic``
alone (extra ``semantic``). What counts as injected is what a turn is given without a judge. Data
that is absent is skipped with the reason.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import re
import sys
import tempfile
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.memory import Fact, Query
from hindsight_core.providers.semantic import SemanticEmbedder
from hindsight_core.recall.floor import evident
from hindsight_core.tokens import CHARACTERS_PER_TOKEN

INJECTED = 5
LOCOMO_KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def opened(name: str, folder: Path, embedder: SemanticEmbedder | None) -> SqliteBank:
    return SqliteBank(name, folder / f"{name}.db", embedder=embedder)


async def filled(bank: SqliteBank, facts: list[Fact], embedder: SemanticEmbedder | None) -> None:
    await bank.import_facts(facts)
    if embedder is not None:
        await bank.reembed()


async def run_coding(
    data: Path, folder: Path, *, embedder: SemanticEmbedder | None = None
) -> tuple[list[dict], list[float]]:
    """Rank every query in its own project's bank; rows of a run file, and milliseconds."""
    banks: dict[str, SqliteBank] = {}
    by_project: dict[str, list[Fact]] = defaultdict(list)
    for row in lines(data / "facts.jsonl"):
        said = datetime.fromisoformat(row["created_at"])
        by_project[row["project"]].append(
            Fact(
                id=row["id"],
                text=row["text"],
                category=row["category"],
                tags=tuple(row["tags"]),
                timestamp=said,
            )
        )
    for project, facts in by_project.items():
        banks[project] = opened(project, folder, embedder)
        await filled(banks[project], facts, embedder)
    rows, times = [], []
    for query in lines(data / "queries.jsonl"):
        asked = Query(query["query"], limit=20, context=query.get("context"))
        start = time.perf_counter()
        hits = await banks[query["project"]].recall(asked)
        times.append((time.perf_counter() - start) * 1000)
        good = evident(asked, hits)[:INJECTED]
        rows.append(
            {
                "query_id": query["id"],
                "ranked": [h.fact.id for h in hits],
                "scores": [h.score for h in hits],
                "injected": [h.fact.id for h in good],
                "tokens": sum(len(h.fact.text) for h in good) / CHARACTERS_PER_TOKEN,
            }
        )
    for bank in banks.values():
        await bank.close()
    return rows, times


def coding(options: argparse.Namespace) -> None:
    data, scorer_path = options.eval / options.split, options.eval / "score_retrieval.py"
    if not scorer_path.exists() or not data.exists():
        print(f"coding set skipped: {scorer_path} or {data} is not there")
        return
    spec = importlib.util.spec_from_file_location("score_retrieval", scorer_path)
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    with tempfile.TemporaryDirectory() as folder:
        rows, times = asyncio.run(run_coding(data, Path(folder), embedder=options.embedder))
        run = options.out or Path(folder) / "run.jsonl"
        run.write_text("".join(json.dumps(row) + "\n" for row in rows))
        report, scored, queries, facts, found = scorer.evaluate(run, data)
    print(f"## Coding set, split {options.split}, blind, {options.by}\n")
    columns = [(key, title) for key, title in scorer.COLUMNS if key != "queries"]
    print("| | n | " + " | ".join(title for _, title in columns) + " |")
    print("|---" * (len(columns) + 2) + "|")
    groups = [("all", report["overall"]), *report["by_type"].items(), *report["by_project"].items()]
    for name, values in groups:
        cells = ["-" if values.get(k) is None else f"{values[k]:.3f}" for k, _ in columns]
        print(f"| {name} | {values['queries']} | " + " | ".join(cells) + " |")
    low, high = report["overall"]["ndcg_interval"]
    print(f"\nnDCG@10 95 % interval {low:.3f} to {high:.3f}; {latency(times)}")
    cost(rows, queries)
    silence(rows, queries)
    if options.misses:
        scorer.show_misses(options.misses, scored, queries, facts, found)


def cost(rows: list[dict], queries: dict) -> None:
    """Tokens of the injected facts, over all questions, for each that got an answer."""
    answers = {ident: {i for i, g in q["gold"].items() if g == 2} for ident, q in queries.items()}
    answered = sum(bool(answers[row["query_id"]] & set(row["injected"])) for row in rows)
    tokens = sum(row["tokens"] for row in rows)
    print(f"answered {answered} of {len(rows)}; {tokens / answered:.0f} tokens injected for each")


def silence(rows: list[dict], queries: dict) -> None:
    """Negatives that stay silent against answers that are lost, over the score a search needs."""
    print(
        "\n| floor of the best hit | negatives silent | answers in the first five | lost |\n"
        "|---|---|---|---|"
    )
    whole = None
    for floor in [0.0, *(n / 20 for n in range(4, 18))]:
        silent, answered = [], []
        for row in rows:
            gold = queries[row["query_id"]]["gold"]
            kept = (
                set(row["ranked"][:INJECTED]) if max(row["scores"], default=0) >= floor else set()
            )
            if not gold:
                silent.append(not kept)
                continue
            answers = {i for i, grade in gold.items() if grade == 2}
            answered.append(len(kept & answers) / len(answers))
        share = sum(answered) / len(answered)
        whole = share if whole is None else whole
        print(
            f"| {floor:.2f} | {sum(silent) / len(silent):.3f} | {share:.3f} | {whole - share:.3f} |"
        )


def latency(times: list[float]) -> str:
    ordered = sorted(times)
    middle, late = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
    return f"recall p50 {middle:.1f} ms, p95 {late:.1f} ms"


async def run_conversation(
    sample: dict, folder: Path, embedder: SemanticEmbedder | None = None
) -> tuple[dict, list[float]]:
    """Turns of one conversation as facts, one document a session; metrics by question kind."""
    bank = opened(sample["sample_id"], folder, embedder)
    talk, facts, turns = sample["conversation"], [], {}
    for number in range(1, 100):
        said = _session_date(talk.get(f"session_{number}_date_time", ""))
        for i, turn in enumerate(talk.get(f"session_{number}", [])):
            text = f"{turn['speaker']}: {turn.get('text', '')}"
            if turn.get("blip_caption"):
                text += f" [shared image: {turn['blip_caption']}]"
            turns[turn["dia_id"]] = text
            facts.append(
                Fact(
                    id=turn["dia_id"],
                    text=text,
                    document_id=f"session-{number}",
                    timestamp=said and said + timedelta(seconds=i),
                )
            )
    await filled(bank, facts, embedder)
    scores: dict[str, list[dict]] = defaultdict(list)
    times = []
    for question in sample["qa"]:
        evidence = " ".join(question.get("evidence", []))
        gold = {
            f"D{int(a)}:{int(b)}" for a, b in re.findall(r"D(\d+):(\d+)", evidence)
        } & turns.keys()
        if not gold:
            continue
        start = time.perf_counter()
        hits = [h.fact.id for h in await bank.recall(Query(question["question"], limit=20))]
        times.append((time.perf_counter() - start) * 1000)
        place = next((n for n, i in enumerate(hits, 1) if i in gold), None)
        row = {f"R@{k}": len(gold & set(hits[:k])) / len(gold) for k in (5, 10, 20)}
        scores[LOCOMO_KINDS[question["category"]]].append(
            {**row, "MRR": 1 / place if place else 0.0}
        )
    await bank.close()
    return scores, times


def _session_date(text: str) -> datetime | None:
    found = re.match(r"(\d+:\d+ [ap]m) on (\d+ \w+), (\d+)", text)
    if not found:
        return None
    return datetime.strptime(" ".join(found.groups()), "%I:%M %p %d %B %Y").replace(tzinfo=UTC)


def locomo(path: Path, options: argparse.Namespace) -> None:
    if not path.exists():
        print(f"\nLoCoMo skipped: {path} is not there")
        return
    scores: dict[str, list[dict]] = defaultdict(list)
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for sample in json.loads(path.read_text(encoding="utf-8")):
            found, took = asyncio.run(run_conversation(sample, Path(folder), options.embedder))
            times += took
            for kind, rows in found.items():
                scores[kind] += rows
    scores["all but adversarial"] = [
        row for kind, rows in scores.items() if kind != "adversarial" for row in rows
    ]
    print(
        f"\n## LoCoMo turns, {options.by}\n\n"
        "| | n | R@5 | R@10 | R@20 | MRR |\n|---|---|---|---|---|---|"
    )
    for kind, rows in scores.items():
        cells = [
            f"{sum(r[k] for r in rows) / len(rows):.3f}" for k in ("R@5", "R@10", "R@20", "MRR")
        ]
        print(f"| {kind} | {len(rows)} | " + " | ".join(cells) + " |")
    print(f"\n{latency(times)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--eval", type=Path, help="folder of the coding evaluation set")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--locomo", type=Path, help="locomo10.json")
    parser.add_argument("--misses", help="print the misses of a query type, or of all")
    parser.add_argument("--out", type=Path, help="keep the run file here")
    parser.add_argument("--semantic", action="store_true", help="with the extra's vectors")
    options = parser.parse_args()
    options.embedder = SemanticEmbedder() if options.semantic else None
    options.by = "words and vectors" if options.semantic else "words alone"
    if options.eval:
        coding(options)
    else:
        print("coding set skipped: no --eval")
    if options.locomo:
        locomo(options.locomo, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
