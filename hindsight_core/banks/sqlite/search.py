"""Search of one bank: take the query apart, fetch candidates, score, put the current first."""

from __future__ import annotations

import sqlite3

from hindsight_core.banks.sqlite.analysis import Analysis, Analyst
from hindsight_core.banks.sqlite.currency import settle
from hindsight_core.banks.sqlite.lexicon import Lexicon
from hindsight_core.banks.sqlite.ranking import Candidate, score_all
from hindsight_core.banks.sqlite.rows import FACT_COLUMNS, fact_from
from hindsight_core.banks.sqlite.scope import scope_condition
from hindsight_core.banks.sqlite.stems import Stemmer
from hindsight_core.memory import Fact, Hit, Query, Scope

FLOOR = 0.35
_CANDIDATES = 120
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
        found = candidates(connection, analysis, query.scope, limit=max(_CANDIDATES, query.limit))
        scores = score_all(found, analysis, self._stemmer)
        scores.sort(key=lambda s: (-s.words, s.row))
        scores = settle(scores)
        best = max((s.words for s in scores), default=0.0) or 1.0
        kept = scores[: query.limit]
        facts = _facts(connection, [s.row for s in kept])
        hits = [
            Hit(
                fact=facts[s.row],
                bank=self._bank,
                score=s.words / best * s.coverage,
                parts={"words": s.words, "coverage": s.coverage},
            )
            for s in kept
        ]
        return hits


def candidates(
    connection: sqlite3.Connection, analysis: Analysis, scope: Scope, *, limit: int
) -> list[Candidate]:
    """The index entries that hold any of the query's words, the best by bm25."""
    forms = analysis.forms
    if not forms:
        return []
    condition, values = scope_condition(scope)
    match = " OR ".join(f'"{stem}"' for stem in forms)
    rows = connection.execute(
        f"SELECT words.rowid, -bm25(words, {_COLUMN_WEIGHTS}) AS b, body, names, near, f.moment,"
        " f.document_id IS NOT NULL FROM words JOIN facts f ON f.row = words.rowid"
        f" WHERE words MATCH ? AND {condition} ORDER BY b DESC, words.rowid LIMIT ?",
        (match, *values, limit),
    )
    return [Candidate(*row) for row in rows]


def _facts(connection: sqlite3.Connection, rows: list[int]) -> dict[int, Fact]:
    marks = ",".join("?" * len(rows))
    found = connection.execute(
        f"SELECT {FACT_COLUMNS}, row FROM facts WHERE row IN ({marks})", rows
    )
    return {row[-1]: fact_from(row) for row in found}
