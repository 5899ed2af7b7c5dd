"""The status line tells the outcomes of a turn apart."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_core.engine.notices import Notices
from hindsight_core.engine.opening import Opening, SessionInfo
from hindsight_core.engine.status import line
from hindsight_core.host import HostCapabilities
from hindsight_core.memory import Fact, Hit
from hindsight_core.turns import Outcome, RecallOutcome

HIT = Hit(fact=Fact(id="f", text="A is B."), bank="demo", score=1.0)


@pytest.fixture
def opening(tmp_path: Any) -> Opening:
    session = SessionInfo.from_wire({"cwd": str(tmp_path), "session": {"id": "s"}})
    return Opening("active", None, None, session, HostCapabilities())


@pytest.mark.spec("br/BR-35")
@pytest.mark.parametrize(
    ("outcome", "hits", "said"),
    [
        ("injected", (HIT, HIT), "recalled 2"),
        ("degraded", (HIT,), "recalled 1 by words"),
        ("empty", (), "nothing relevant"),
        ("skipped", (), "not looked"),
        ("failed", (), "recall failed"),
    ],
)
def test_outcomes_read_differently(
    opening: Opening, outcome: Outcome, hits: tuple[Hit, ...], said: str
) -> None:
    notices = Notices(lambda level, text: None)

    found = line(opening, notices, outcome=RecallOutcome(outcome, hits=hits))

    assert found == f"memory: no bank · {said}"


def test_trouble_and_inactive_states(opening: Opening) -> None:
    notices = Notices(lambda level, text: None)
    notices.trouble("bank", "away")

    assert line(None, notices) == "memory: not initialized"
    assert line(opening, notices) == "memory: no bank · trouble"
    assert line(opening.off("broken"), notices) == "memory: off"
