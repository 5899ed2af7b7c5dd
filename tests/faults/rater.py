"""A process that answers about one memory, again and again; it says on stdout what counts.

    python rater.py HOME FACT SESSION ANSWERS

Every line follows the call that made it true: ``ACK <token>`` the answer is recorded.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.config.settings import Settings
from hindsight_core.memorize.lifecycle.keeper import Keeper
from hindsight_core.memorize.lifecycle.sweep import Sweep
from hindsight_core.services import utc_now
from hindsight_core.state.sessions import SessionState

SETTINGS = Settings.model_validate(
    {
        "lifecycle": {
            "enabled": True,
            "max_feedback_per_session": 1_000_000,
            "history_limit": 1_000_000,
        }
    }
)


async def main(home: Path, fact_id: str, session: str, answers: int) -> None:
    bank = SqliteBank("shop", home / "shop.db")
    sessions = SessionState(home / "state.db")
    keeper = Keeper.of(
        bank, sessions, settings=SETTINGS, clock=utc_now, sink=lambda name, fields: None
    )
    for number in range(answers):
        token = await keeper.tokens.issue("shop", session, [fact_id])
        judged = await keeper.answer(
            token, fact_id, outcome="useful", reason="it helped", session_id=session
        )
        assert judged.accepted, judged
        print("ACK", token, flush=True)
        if number % 4 == 0:
            await keeper.reinforce([fact_id], session_id=session)
            await Sweep(keeper).run(session)
    await bank.close()
    sessions.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])))
