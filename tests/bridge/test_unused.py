"""What is not used is not imported: no decision without a gate, no server client without one."""

from __future__ import annotations

import json
from typing import Any

import pytest

SEEN = """
import atexit, sys
def tell():
    found = [name for name in sys.modules if name.startswith({prefixes!r})]
    with open({path!r}, "a") as file:
        file.write("\\n".join(found) + "\\n")
atexit.register(tell)
"""


@pytest.fixture
def imported(host: Any, tmp_path: Any) -> Any:
    """Runs a whole session in a bridge; the modules of ours that it had imported at its end."""
    site, seen = tmp_path / "site", tmp_path / "seen"
    site.mkdir()
    prefixes = ("hindsight_core.decision", "hindsight_core.banks.hindsight", "httpx", "numpy")
    (site / "sitecustomize.py").write_text(SEEN.format(path=str(seen), prefixes=prefixes))

    def run(say: Any, **sections: Any) -> set[str]:
        host.memory.mkdir(parents=True, exist_ok=True)
        settings = {"models": {"provider": "none"}, "tasks": {"detect": False}, **sections}
        (host.memory / "config.json").write_text(json.dumps(settings))
        host.env["PYTHONPATH"] = str(site)
        bridge = host.start()
        host.open(bridge)
        host.turn(bridge, "which port does the API gateway listen on?")
        bridge.call("turn/end", {"turnId": "t1", "entries": say("Remember: it is 8443.", "Noted.")})
        bridge.call("session/end", {"reason": "quit"})
        bridge.call("shutdown")
        assert bridge.gone() == 0
        return set(seen.read_text().split())

    return run


@pytest.mark.spec("s1/S-DEC-1")
@pytest.mark.parametrize("profile", ["pi-hindsight", "s1enhanced"])
def test_without_a_gate_no_part_of_the_decision_layer_is_imported(
    imported: Any, say: Any, profile: str
) -> None:
    found = imported(say, profile=profile, bank={"backend": "sqlite"})
    # The plugin that registers the built-in backends is a list of names.
    assert {m for m in found if m.startswith("hindsight_core.decision")} <= {
        "hindsight_core.decision",
        "hindsight_core.decision.builtin",
    }
    assert "hindsight_core.banks.hindsight.bank" not in found
    assert "httpx" not in found and "numpy" not in found


def test_with_a_gate_it_is(imported: Any, say: Any) -> None:
    found = imported(say, decision={"inject_gate": True}, bank={"backend": "sqlite"})
    assert {"hindsight_core.decision.router", "hindsight_core.decision.ladder"} <= found
