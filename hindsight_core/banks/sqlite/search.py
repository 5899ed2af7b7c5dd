"""Search of one bank: take the query apart, fetch candidates, score, put the current first."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from hindsight_core.banks.sqlite.analysis import Analysis, Analyst
from hindsight_core.banks.sqlite.confidence import Evidence, confidences, evidence
from hindsight_core.banks.sqlite.currency import settle
from hindsight_core.banks.sqlite.lexicon import Lexicon
from hindsight_core.banks.sqlite.ranking import Candidate, Score, score_all
from hindsight_core.banks.sqlite.rows import FACT_COLUMNS, fact_from
from hindsight_core.banks.sqlite.scope import scope_condition
from hindsight_core.banks.sqlite.stems import Stemmer
from hindsight_core.memory import Fact, Hit, Query, Scope

_CANDIDATES = 64
# Index entries that one search looks at before its commonest words only rank and no longer find.
_POSTINGS = 6000
_COLUMN_WEIGHTS = "1.0, 1.0, 0.3"


class Searcher:
    """Searches; keeps what is worth keeping between searches."""

    def __init__(self, bank: str) -> None:
        self._bank = bank
        self._stemmer = Stemmer()
        self._analyst = Analyst(Lexicon(self._stemmer))

    def search(self, connection: sqlite3.Connection, query: Query) -> list[Hit]:
        """Hits, best first."""
        if query.limit <= 0:
            return []
        analysis = self._analyst.analyse(connection, query.text, context=query.context)
        words = [self._stemmer.surface(stem) for stem in _finders(analysis)]
        most = max(_CANDIDATES, query.limit)
        found = candidates(connection, words, query.scope, limit=most)
        scores = score_all(found, analysis, self._stemmer)
        scores.sort(key=lambda s: (-s.words, s.row))
        scores = settle(scores)
        whole = evidence(scores, analysis)
        levels = confidences(scores, whole)
        kept = [
            (s, level)
            for s, level in zip(scores, levels, strict=True)
            if level >= (query.min_score or 0.0)
        ][: query.limit]
        facts = _facts(connection, [s.row for s, _ in kept])
        return [
            Hit(fact=facts[s.row], bank=self._bank, score=level, parts=_parts(s, whole))
            for s, level in kept
        ]


def candidates(
    connection: sqlite3.Connection, words: Sequence[str], scope: Scope, *, limit: int
) -> list[Candidate]:
    """The index entries that hold any of these words, the best by bm25."""
    if not words:
        return []
    condition, values = scope_condition(scope)
    seen = "" if condition == "1" else "JOIN facts f ON f.row = words.rowid "
    match = " OR ".join(f'"{word}"' for word in words)
    # Texts are read for the best alone: sorting first, on numbers, is several times faster.
    rows = connection.execute(
        "SELECT best.row, best.bm25, w.body, w.names, w.near, f.moment, f.document_id IS NOT NULL"
        f" FROM (SELECT words.rowid AS row, -bm25(words, {_COLUMN_WEIGHTS}) AS bm25 FROM words"
        f" {seen}WHERE words MATCH ? AND {condition} ORDER BY bm25 DESC, words.rowid LIMIT ?)"
        " AS best CROSS JOIN words w ON w.rowid = best.row JOIN facts f ON f.row = best.row",
        (match, *values, limit),
    )
    return [Candidate(*row) for row in rows]


def _finders(analysis: Analysis) -> list[str]:
    """Stems to look up: all of them in a small bank, the rarer ones in a large one."""
    by_rarity = sorted(analysis.frequencies.items(), key=lambda item: item[1])
    looked_at = 0
    found: list[str] = []
    for stem, frequency in by_rarity:
        looked_at += frequency
        if found and looked_at > _POSTINGS:
            break
        found.append(stem)
    return found


def _parts(score: Score, whole: Evidence) -> dict[str, float]:
    return {
        "words": score.words,
        "coverage": score.coverage,
        "names_missing": whole.names_missing,
        "superseded": float(score.replaced_by is not None),
    }


def _facts(connection: sqlite3.Connection, rows: list[int]) -> dict[int, Fact]:
    marks = ",".join("?" * len(rows))
    found = connection.execute(
        f"SELECT {FACT_COLUMNS}, row FROM facts WHERE row IN ({marks})", rows
    )
    return {row[-1]: fact_from(row) for row in found}
