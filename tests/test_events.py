from __future__ import annotations

from hindsight_core import hookimpl
from hindsight_core.memory import Receipt
from hindsight_core.plugins import load_hooks
from hindsight_core.plugins.events import EVENTS, EventPlugin
from hindsight_core.turns import RecallOutcome, Turn


class Watcher:
    def __init__(self):
        self.seen = []

    @hookimpl
    def hindsight_event(self, event):
        self.seen.append((event.name, dict(event.fields)))


async def test_recall_and_store_are_told_with_the_documented_fields():
    hooks = load_hooks(env={"HINDSIGHT_MEM_PLUGINS": ""})
    hooks.register_builtin(EventPlugin(hooks))
    watcher = Watcher()
    hooks.register_builtin(watcher)
    await hooks.after_recall(Turn("t1", "s1", "hello"), RecallOutcome("empty", reason="nothing"))
    await hooks.after_store(Receipt("stored", "d1", ("f1", "f2")))
    assert [name for name, _ in watcher.seen] == ["recall", "store"]
    assert all(tuple(fields) == EVENTS[name] for name, fields in watcher.seen)
    assert watcher.seen[0][1]["outcome"] == "empty"
    assert watcher.seen[1][1]["facts"] == 2
