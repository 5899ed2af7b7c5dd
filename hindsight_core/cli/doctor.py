"""``hindsight-mem doctor``: tests the real path and says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindsight_core.cli.app import App, common

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.doctor import Finding

COLOURS = {"ok": "green", "warning": "yellow", "failed": "red"}


@click.command()
@common
@click.option("--host", metavar="NAME", help="This host's wiring; else all that are wired.")
def doctor(app: App, host: str | None) -> int:
    """Check files, configuration, plugins, templates, model, embedder, bank, queue and hosts.

    The bank is really written to, read back and cleaned again, also through each host's wiring.
    """
    from hindsight_core.cli.wiring import wired_hosts, wiring

    findings = app.run(_examine(app))
    for name in wired_hosts(app) if host is None else [host]:
        findings += wiring(app, name)
    app.emit(
        {
            "findings": [
                {"name": f.name, "level": f.level, "text": f.text, "advice": f.advice}
                for f in findings
            ]
        },
        lambda console: _show(console, findings),
    )
    return 1 if any(finding.level == "failed" for finding in findings) else 0


async def _examine(app: App) -> list[Finding]:
    from hindsight_core.doctor import examine

    async with app.runtime() as runtime:
        return await examine(runtime)


def _show(console: Console, findings: list[Finding]) -> None:
    for finding in findings:
        mark = f"[{COLOURS[finding.level]}]{finding.level:8}[/]"
        console.print(mark, f"{finding.name}:", end=" ")
        console.print(finding.text, markup=False)
        if finding.advice and finding.level != "ok":
            console.print(f"         {finding.advice}", markup=False)
