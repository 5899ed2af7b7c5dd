"""Stems exactly as the full-text index makes them, asked from SQLite itself."""

from __future__ import annotations

import sqlite3
import threading
from collections import ChainMap
from collections.abc import Iterable, Mapping

_CACHE_WORDS = 200_000


class Stemmer:
    """Word to stem, cached; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, str] = {}
        self._surfaces: dict[str, str] = {}
        self._scratch: sqlite3.Connection | None = None

    def stems(self, words: Iterable[str]) -> list[str]:
        """One stem a word, in order; a word the index does not know as a word is its own stem."""
        asked = list(words)
        known = self._known
        try:
            return [known[word] for word in asked]
        except KeyError:
            pass
        fresh = {word for word in asked if word not in known}
        if fresh:
            self._learn(fresh)
            known = self._known
        return [known.get(word, word) for word in asked]

    def table(self, *texts: Iterable[Iterable[str]]) -> Mapping[str, str]:
        """Stems of every word of these texts, by word."""
        words = {word for part in texts for text in part for word in text}
        # `difference` of a mapping asks it word by word; `-` with its keys walks through them all.
        fresh = words.difference(self._known)
        if fresh:
            self._learn(fresh)
        found = self._known
        missing = words.difference(found)
        return ChainMap({word: word for word in missing}, found) if missing else found

    def stem(self, word: str) -> str:
        """Stem of one word."""
        return self.stems((word,))[0]

    def surface(self, stem: str) -> str:
        """A word with this stem: what to ask the index for, as stemming a stem may change it."""
        return self._surfaces.get(stem, stem)

    def close(self) -> None:
        """Release the scratch table."""
        with self._lock:
            if self._scratch is not None:
                self._scratch.close()
                self._scratch = None

    def _learn(self, fresh: set[str]) -> None:
        ordered = sorted(fresh)
        with self._lock:
            if len(self._known) + len(ordered) > _CACHE_WORDS:
                self._known, self._surfaces = {}, {}
            scratch = self._open()
            scratch.execute("BEGIN")
            try:
                scratch.executemany("INSERT INTO t (rowid, w) VALUES (?, ?)", enumerate(ordered))
                found = scratch.execute("SELECT term, doc FROM v").fetchall()
            finally:
                scratch.execute("ROLLBACK")
            if len(self._known) + len(ordered) > _CACHE_WORDS:
                self._known, self._surfaces = {}, {}
            for term, row in found:
                self._known.setdefault(ordered[row], term)
                self._surfaces.setdefault(term, ordered[row])

    def _open(self) -> sqlite3.Connection:
        if self._scratch is None:
            self._scratch = sqlite3.connect(
                ":memory:", isolation_level=None, check_same_thread=False
            )
            self._scratch.execute(
                "CREATE VIRTUAL TABLE t USING fts5 (w, tokenize = 'porter unicode61')"
            )
            self._scratch.execute("CREATE VIRTUAL TABLE v USING fts5vocab (t, instance)")
        return self._scratch
