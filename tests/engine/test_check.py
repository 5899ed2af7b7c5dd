"""What ``initialize`` tells of files that were damaged."""

from __future__ import annotations

from hindsight_core.configure import configure
from hindsight_core.engine.check import check
from hindsight_core.runtime import Runtime


async def test_a_damaged_write_queue_is_told(tmp_path):
    home, project = tmp_path / "home", tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    home.mkdir()
    (home / "queue.db").write_bytes(b"this is no database, " * 500)
    loaded, hooks = configure(cwd=project, env={"HINDSIGHT_MEM_HOME": str(home)})
    runtime = Runtime(loaded, hooks=hooks)
    try:
        [told] = await check(runtime)
    finally:
        await runtime.close()
    [aside] = home.glob("queue.db.corrupt-*")
    assert told == (
        f"The write queue's file was damaged. It is kept as {aside}; a new one was begun."
    )
