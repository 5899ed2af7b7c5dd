"""A search's scope as SQL."""

from __future__ import annotations

from hindsight_core.banks.sqlite.rows import to_micros
from hindsight_core.banks.sqlite.tags import tag_condition
from hindsight_core.memory import Scope


def scope_condition(scope: Scope) -> tuple[str, list[object]]:
    """SQL over a facts table named ``f``, and its values; ``1`` when all may be seen."""
    parts: list[str] = []
    values: list[object] = []

    def add(sql: str, *found: object) -> None:
        parts.append(sql)
        values.extend(found)

    if scope.kinds:
        marks = ", ".join("?" * len(scope.kinds))
        add(f"f.kind IN ({marks})", *scope.kinds)
    if scope.tags is not None:
        sql, tags = tag_condition(scope.tags)
        add(sql, *tags)
    if scope.since is not None:
        add("f.moment >= ?", to_micros(scope.since))
    if scope.until is not None:
        add("f.moment < ?", to_micros(scope.until))
    if scope.file:
        path = scope.file.lower()
        add("(instr(lower(f.text), ?) OR instr(lower(f.metadata), ?))", path, path)
    if scope.document_id:
        add(
            "EXISTS (SELECT 1 FROM members m WHERE m.row = f.row AND m.document_id = ?)",
            scope.document_id,
        )
    if scope.session_id:
        add("f.session_id = ?", scope.session_id)
    return " AND ".join(parts) or "1", values
