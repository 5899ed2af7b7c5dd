from __future__ import annotations

from datetime import date, timedelta

from hindsight_core.state.usage import UsageRow, UsageStore


async def test_calls_add_up_by_day_stage_and_session(tmp_path, clock):
    store = UsageStore(tmp_path / "state.db", clock)
    other = UsageStore(tmp_path / "state.db", clock)
    today = clock().date()
    await store.add(today, "recall/judge", "S", 1, 100, 10)
    await other.add(today, "recall/judge", "S", 2, 50, 5)
    await other.add(today, "memorize/extract", None, 1, 7, 0)
    await store.add(today - timedelta(days=1), "recall/judge", "S", 1, 1, 1)
    assert await store.rows(since_day=today) == [
        UsageRow(today.isoformat(), "memorize/extract", "", 1, 7, 0),
        UsageRow(today.isoformat(), "recall/judge", "S", 3, 150, 15),
    ]
    assert len(await store.rows()) == 3
    assert await store.tokens_since(today) == 172
    assert (await store.today()).calls == 4
    assert (await store.total(session_id="S")).input_tokens == 151
    assert (await store.total(day=date(2000, 1, 1))).calls == 0
    store.close()
    other.close()
