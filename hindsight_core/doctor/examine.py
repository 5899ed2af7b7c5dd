"""Runs every check of ``doctor``, ours and those of plugins."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hindsight_core.doctor import checks
from hindsight_core.doctor.contours import contours
from hindsight_core.doctor.findings import Check, Finding
from hindsight_core.doctor.memories import memories
from hindsight_core.doctor.print_modes import print_modes
from hindsight_core.doctor.transcripts import transcripts
from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime

_CHECK_S = 60.0


async def examine(runtime: Runtime) -> list[Finding]:
    """Run every check; a check that raises is a finding itself."""
    every: dict[str, Check] = {
        "files": checks.files,  # first: the others would open them unseen
        "configuration": checks.configuration,
        "plugins": checks.plugins,
        "templates": checks.templates,
        "model": checks.model,
        "print mode": print_modes,
        "embedder": checks.embedder,
        "bank": checks.bank,
        "queue": checks.queue,
        "memories": memories,
        "contours": contours,
        "transcripts": transcripts,
    }
    every |= {name: partial(_plugged, name=name) for name in runtime.hooks.checks}
    findings = []
    for name, check in every.items():
        try:
            findings += await check(runtime)
        except HindsightError as error:
            findings.append(Finding(name, "failed", str(error)))
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            findings.append(Finding(name, "failed", text, "This is a bug; please report it."))
    return findings


async def _plugged(runtime: Runtime, *, name: str) -> list[Finding]:
    """A plugin's check: it says what is right, or raises with what is wrong."""
    from hindsight_core.isolation import Overdue, call_async

    who = runtime.hooks.checks[name].distribution
    try:
        check = runtime.hooks.create("checks", name, runtime.settings, runtime.services)
        said = await call_async(check, {}, seconds=_CHECK_S, stuck=lambda count: None)
    except Overdue:
        return [Finding(name, "failed", f"no answer within {_CHECK_S:g} s", f"Ask {who}.")]
    except Exception as error:
        text = str(error) or type(error).__name__
        return [Finding(name, "failed", text, f"This check is of {who}.")]
    if isinstance(said, Finding):
        return [said]
    if isinstance(said, list) and all(isinstance(item, Finding) for item in said):
        return said
    return [Finding(name, "ok", str(said) if said is not None else "nothing is wrong")]
