"""A tag condition as SQL, with the Hindsight server's meaning."""

from __future__ import annotations

from hindsight_core.memory import TagFilter

Condition = tuple[str, list[str]]
_UNTAGGED = "NOT EXISTS (SELECT 1 FROM fact_tags t WHERE t.row = f.row)"


def tag_condition(wanted: TagFilter) -> Condition:
    """SQL over a facts table named ``f``, and its values (s1/S-TAG-1).

    A leaf without tags is no condition, except with ``exact``, where it means untagged facts.
    Members of a compound are joined as its name says; ``none_of`` refuses each of its members.
    """
    for members, glue, negate in (
        (wanted.all_of, " AND ", False),
        (wanted.any_of, " OR ", False),
        (wanted.none_of, " OR ", True),
    ):
        if members:
            conditions = [tag_condition(member) for member in members]
            sql = "(" + glue.join(sql for sql, _ in conditions) + ")"
            values = [value for _, found in conditions for value in found]
            return (f"NOT {sql}" if negate else sql), values
    return _leaf(wanted)


def _leaf(wanted: TagFilter) -> Condition:
    tags = list(dict.fromkeys(wanted.tags))
    if wanted.match == "exact":
        return _exact(tags)
    if not tags:
        return "1", []
    if wanted.match in ("any", "any_strict"):
        sql, values = _some(tags)
    else:
        sql, values = _every(tags)
    if wanted.match in ("any", "all"):
        return f"({sql} OR {_UNTAGGED})", values
    return sql, values


def _some(tags: list[str]) -> Condition:
    marks = ", ".join("?" * len(tags))
    return (
        f"EXISTS (SELECT 1 FROM fact_tags t WHERE t.row = f.row AND t.tag IN ({marks}))",
        tags,
    )


def _every(tags: list[str]) -> Condition:
    one = "EXISTS (SELECT 1 FROM fact_tags t WHERE t.row = f.row AND t.tag = ?)"
    return "(" + " AND ".join(one for _ in tags) + ")", tags


def _exact(tags: list[str]) -> Condition:
    if not tags:
        return _UNTAGGED, []
    sql, values = _every(tags)
    return (
        f"({sql} AND (SELECT count(*) FROM fact_tags t WHERE t.row = f.row) = {len(tags)})",
        values,
    )
