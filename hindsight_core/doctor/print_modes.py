"""Which installed agents could answer memory's model calls, where no key is at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.doctor.findings import Finding

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime

NAME = "print mode"
USE = "No key is needed with `hindsight-mem config set models.provider command`."


async def print_modes(runtime: Runtime) -> list[Finding]:
    """One finding for each agent program with a print mode; nothing where there is none."""
    from hindsight_core.providers.command_forms import offers

    found = offers(runtime.env)
    used = runtime.settings.models.provider == "command"
    wanted = not used and not runtime.models.available("retain")
    findings = [
        Finding(NAME, "ok", f"{offer.name} can answer for memory ({offer.program})")
        for offer in found
    ]
    if found and wanted:
        text = f"no model is configured, and {found[0].name} could answer"
        findings.append(Finding(NAME, "warning", text, USE))
    return findings
