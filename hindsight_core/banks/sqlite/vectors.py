"""Vectors beside the facts: derived data, labelled with the model that made them.

They live in a table of their own, as float32, so that a bank without an embedder never reads
them. A product of the whole matrix with the query is exact and fast enough for one machine.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from hindsight_core.errors import BankError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

# What the vectors of the facts beside one add to its own.
_NEIGHBOURS = 0.3


@dataclass(frozen=True, slots=True)
class VectorState:
    """How far the vectors of a bank are.

    Attributes:
        identity: The embedder in use; None without one.
        current: Valid facts with a vector of that embedder.
        missing: Valid facts without one; they are found by their words.
        others: Vectors of other embedders, which are not used.
    """

    identity: str | None
    current: int
    missing: int
    others: int


@dataclass(frozen=True, slots=True)
class Pending:
    """A fact that waits for its vector."""

    row: int
    content: str
    text: str


class VectorTable:
    """The vectors of one embedder in one bank, read once and kept until they change."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self._read: tuple[sqlite3.Connection, int] | None = None
        self._rows: tuple[int, ...] = ()
        self._matrix: Matrix | None = None

    def nearness(self, connection: sqlite3.Connection, vector: Sequence[float]) -> dict[int, float]:
        """Cosine of every fact's vector with this one, by row; empty where none fit."""
        import numpy as np

        self._load(connection)
        asked = np.asarray(vector, dtype=np.float32)
        if self._matrix is None or self._matrix.shape[1] != asked.shape[0]:
            return {}
        length = float(np.linalg.norm(asked)) or 1.0
        found = (self._matrix @ (asked / length)).tolist()
        return dict(zip(self._rows, found, strict=True))

    def _load(self, connection: sqlite3.Connection) -> None:
        # Changes with every write of another connection, and writes have their own. The number
        # says nothing from one connection to the next: a file made or replaced has another.
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        if self._read == (connection, version):
            return
        import numpy as np

        entries = connection.execute(
            "SELECT v.row, v.vector, m.document_id FROM vectors v"
            " JOIN facts f ON f.row = v.row AND f.state = 'valid' AND f.content = v.content"
            " LEFT JOIN members m ON m.row = v.row AND m.document_id = f.document_id"
            " WHERE v.identity = ? ORDER BY m.document_id, m.position, v.row",
            (self.identity,),
        ).fetchall()
        sizes = {len(entry[1]) for entry in entries}
        self._read = (connection, version)
        if len(sizes) != 1:
            # No vectors, or of several lengths under one name: the embedder is not to be trusted.
            self._rows, self._matrix = (), None
            return
        self._rows = tuple(entry[0] for entry in entries)
        own = np.frombuffer(b"".join(entry[1] for entry in entries), dtype=np.float32)
        own = _unit(own.reshape(len(entries), -1))
        self._matrix = _with_neighbours(own, [entry[2] for entry in entries])


def waiting(
    connection: sqlite3.Connection, identity: str, *, limit: int, rows: Sequence[int] | None = None
) -> list[Pending]:
    """Valid facts without a current vector of this embedder, in order of storage."""
    only = "" if rows is None else f"AND f.row IN ({','.join('?' * len(rows))})"
    found = connection.execute(
        "SELECT f.row, f.content, f.text FROM facts f LEFT JOIN vectors v ON v.row = f.row"
        " AND v.identity = ? AND v.content = f.content"
        f" WHERE f.state = 'valid' AND v.row IS NULL {only} ORDER BY f.row LIMIT ?",
        (identity, *(rows or ()), limit),
    )
    return [Pending(*row) for row in found]


def put(
    connection: sqlite3.Connection,
    identity: str,
    facts: Sequence[Pending],
    vectors: Sequence[Sequence[float]],
) -> None:
    """Store vectors of facts that still say what was embedded."""
    if len(facts) != len(vectors):
        raise BankError(
            f"the embedder {identity} gave {len(vectors)} vectors for {len(facts)} texts",
            retryable=False,
        )
    from array import array

    connection.executemany(
        "INSERT INTO vectors (row, identity, content, vector)"
        " SELECT f.row, ?, f.content, ? FROM facts f WHERE f.row = ? AND f.content = ?"
        " ON CONFLICT (row) DO UPDATE SET identity = excluded.identity,"
        " content = excluded.content, vector = excluded.vector",
        (
            (identity, array("f", vector).tobytes(), fact.row, fact.content)
            for fact, vector in zip(facts, vectors, strict=True)
        ),
    )


def state(connection: sqlite3.Connection, identity: str | None) -> VectorState:
    """Counts for status and doctor."""
    valid, current, others = connection.execute(
        "SELECT count(*), total(v.identity = ?1 AND v.content = f.content),"
        " total(v.identity IS NOT NULL AND v.identity IS NOT ?1)"
        " FROM facts f LEFT JOIN vectors v ON v.row = f.row WHERE f.state = 'valid'",
        (identity,),
    ).fetchone()
    return VectorState(identity, int(current), valid - int(current), int(others))


def _unit(matrix: Matrix) -> Matrix:
    import numpy as np

    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.maximum(lengths, 1e-9), dtype=np.float32)


def _with_neighbours(own: Matrix, homes: Sequence[str | None]) -> Matrix:
    """Each vector with a share of those before and after it in the same document."""
    import numpy as np

    same = np.array([a == b and a is not None for a, b in pairwise(homes)], dtype=bool)
    mixed = own.copy()
    mixed[1:][same] += _NEIGHBOURS * own[:-1][same]
    mixed[:-1][same] += _NEIGHBOURS * own[1:][same]
    return _unit(mixed)
