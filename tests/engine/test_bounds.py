"""How long a session's end may take."""

from __future__ import annotations

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.engine.bounds import at_end, limits
from hindsight_core.host import Limits


@pytest.mark.parametrize(
    ("granted", "allowed", "seconds"),
    [
        (None, 60_000, 0.5),
        (25_000, 60_000, 25.0),
        (25_000, 2_000, 2.0),
        (100, 60_000, 0.5),
        ("long", 60_000, 0.5),
    ],
)
def test_a_host_may_grant_more_but_not_more_than_the_user(
    granted: object, allowed: int, seconds: float
) -> None:
    settings = Settings.model_validate({"queue": {"shutdown_timeout_ms": allowed}})
    bounds = limits(settings, Limits(session_end_ms=500))

    assert at_end(bounds, settings, granted=granted) == seconds
