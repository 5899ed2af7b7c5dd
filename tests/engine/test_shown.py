"""The shown set: in the answer's own step, taken back, emptied, kept over a resume."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hindsight_core.engine.shown import ShownSet
from hindsight_core.host import BlockMode
from hindsight_core.state.sessions import SessionState


@pytest.fixture
async def state(tmp_path: Path) -> AsyncIterator[SessionState]:
    sessions = SessionState(tmp_path / "state.db")
    yield sessions
    sessions.close()


def shown(state: SessionState, blocks: BlockMode) -> ShownSet:
    return ShownSet(lambda: state, bank="b", session_id="s", blocks=blocks)


@pytest.mark.spec("br/BR-65")
@pytest.mark.parametrize("blocks", ["persist", "replay"])
async def test_keys_are_kept_until_a_compaction(state: SessionState, blocks: BlockMode) -> None:
    keys = shown(state, blocks)
    keys.add(["a", "b"])
    before = await keys.keys()
    keys.clear()

    assert before == {"a", "b"}
    assert await keys.keys() == frozenset()
    await keys.flush()


async def test_blocks_of_one_turn_suppress_nothing(state: SessionState) -> None:
    keys = shown(state, "turn")
    keys.add(["a"])

    assert await keys.keys() == frozenset()


async def test_a_block_that_did_not_arrive_is_taken_back(state: SessionState) -> None:
    keys = shown(state, "replay")
    keys.add(["a"])
    keys.add(["a", "b"])
    keys.take_back()

    assert await keys.keys() == {"a"}


async def test_a_full_replay_keeps_the_newest_block(state: SessionState) -> None:
    keys = shown(state, "replay")
    keys.add(["a"])
    keys.add(["b"])
    keys.clear(but_last=True)

    assert await keys.keys() == {"b"}


@pytest.mark.parametrize(("blocks", "after"), [("persist", {"b"}), ("replay", set())])
async def test_what_a_new_process_knows(
    state: SessionState, blocks: BlockMode, after: set[str]
) -> None:
    first = shown(state, blocks)
    first.add(["a"])
    first.clear()
    first.add(["b"])
    await first.flush()

    assert await shown(state, blocks).keys() == after
