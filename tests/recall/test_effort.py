from __future__ import annotations

import pytest

from hindsight_core.recall.effort import deep_cap, query_cap


@pytest.mark.spec("pi/R-06")
@pytest.mark.parametrize(
    ("effort", "max_queries", "cap"),
    [
        ("light", 8, 2),
        ("normal", 8, 3),
        ("thorough", 8, 5),
        ("max", 8, 3),
        ("thorough", 4, 4),
        ("light", 0, 1),
    ],
)
def test_ceiling(effort, max_queries, cap):
    assert query_cap(effort, max_queries=max_queries) == cap


@pytest.mark.spec("pi/R-06")
@pytest.mark.parametrize(("deep", "max_queries", "cap"), [(5, 8, 5), (5, 3, 3), (0, 8, 1)])
def test_deep_ceiling(deep, max_queries, cap):
    assert deep_cap(deep, max_queries=max_queries) == cap
