"""Search of one bank: take the query apart, fetch candidates, score, put the current first."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from hindsight_core.banks.sqlite.analysis import Analysis, Analyst
from hindsight_core.banks.sqlite.candidates import candidates, nearest
from hindsight_core.banks.sqlite.confidence import Evidence, confidences, evidence
from hindsight_core.banks.sqlite.currency import settle
from hindsight_core.banks.sqlite.fusion import NO_VECTORS, fused
from hindsight_core.banks.sqlite.lexicon import Lexicon
from hindsight_core.banks.sqlite.ranking import Score, score_all
from hindsight_core.banks.sqlite.rows import FACT_COLUMNS, fact_from
from hindsight_core.banks.sqlite.stems import Stemmer
from hindsight_core.memory import Fact, Hit, Query

_CANDIDATES = 80
# Index entries that one search looks at before its commonest words only rank and no longer find.
_POSTINGS = 6000


class Searcher:
    """Searches; keeps what is worth keeping between searches."""

    def __init__(self, bank: str) -> None:
        self._bank = bank
        self._stemmer = Stemmer()
        self._analyst = Analyst(Lexicon(self._stemmer))

    def search(
        self,
        connection: sqlite3.Connection,
        query: Query,
        *,
        nearness: Mapping[int, float] = NO_VECTORS,
    ) -> list[Hit]:
        """Hits, best first.

        Args:
            connection: The bank.
            query: What is asked.
            nearness: Cosine of facts with the query, by row.
        """
        if query.limit <= 0:
            return []
        analysis = self._analyst.analyse(connection, query.text, context=query.context)
        words = [self._stemmer.surface(stem) for stem in _finders(analysis)]
        most = max(_CANDIDATES, query.limit)
        found = candidates(connection, words, query.scope, limit=most)
        if nearness:
            found += nearest(connection, nearness, found, query.scope, limit=most)
        scores = fused(score_all(found, analysis, self._stemmer), nearness)
        scores = settle(sorted(scores, key=lambda s: (-s.rank, s.row)))
        whole = evidence(scores, analysis, nearness)
        levels = zip(scores, confidences(scores, whole), strict=True)
        floor = query.min_score or 0.0
        kept = [(s, level) for s, level in levels if level >= floor][: query.limit]
        facts = _facts(connection, [s.row for s, _ in kept])
        return [
            Hit(fact=facts[s.row], bank=self._bank, score=level, parts=_parts(s, whole, nearness))
            for s, level in kept
        ]


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


def _parts(score: Score, whole: Evidence, nearness: Mapping[int, float]) -> dict[str, float]:
    vectors = {"stands_out": whole.stands_out} if nearness else {}
    if score.row in nearness:
        vectors["vectors"] = nearness[score.row]
    return {
        "words": score.words,
        "coverage": score.coverage,
        "names_missing": whole.names_missing,
        "superseded": float(score.replaced_by is not None),
        **vectors,
    }


def _facts(connection: sqlite3.Connection, rows: list[int]) -> dict[int, Fact]:
    marks = ",".join("?" * len(rows))
    found = connection.execute(
        f"SELECT {FACT_COLUMNS}, row FROM facts WHERE row IN ({marks})", rows
    )
    return {row[-1]: fact_from(row) for row in found}
