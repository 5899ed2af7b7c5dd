"""``hindsight-mem trust``: let a project's configuration and templates act."""

from __future__ import annotations

import os
from pathlib import Path

import click

from hindsight_core.cli.app import App, common
from hindsight_core.errors import ConfigError


@click.command()
@common
@click.option("--remove", is_flag=True, help="Trust it no longer.")
@click.option("--list", "listing", is_flag=True, help="Show what is trusted.")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
def trust(app: App, *, remove: bool, listing: bool, folder: Path | None) -> None:
    """Trust the project of FOLDER (here by default) as it is now.

    Kept are its path and a digest of its configuration and templates; when these change, it has
    to be trusted again. Facts that it shares (.hindsight/facts) are data: from now on they are
    taken over, also those that come later.
    """
    from hindsight_core.config.paths import Paths
    from hindsight_core.config.project import locate
    from hindsight_core.config.trust import TrustStore, acting_files
    from hindsight_core.services import utc_now
    from hindsight_core.sharing.folder import FOLDER

    store = TrustStore(Paths.from_env(os.environ).trust)
    if listing:
        kept = store.projects()
        app.emit({"projects": kept}, lambda console: console.print("\n".join(kept), markup=False))
        return
    place = locate(folder or Path.cwd(), os.environ)
    if place.root is None or place.checkout is None or not place.checkout.is_dir():
        raise ConfigError(f"{place.reason or f'{place.cwd} does not exist'}. Name a project.")
    files = [str(path.relative_to(place.checkout)) for path in acting_files(place.checkout)]
    if remove:
        was = store.remove(place.root)
        text = f"{place.root} is not trusted any more" if was else f"{place.root} was not trusted"
    else:
        store.add(place.root, place.checkout, now=utc_now())
        text = f"{place.root} is trusted: {', '.join(files) or 'it has no files that act yet'}"
    data = {"project": str(place.root), "trusted": not remove, "files": files}
    shared = sum(1 for _ in (place.checkout / FOLDER).glob("*.md"))
    if shared and not remove:
        data["facts"] = shared
        text += f"; its {shared} shared facts come with the next session or `bank sync`"
    app.emit(data, lambda console: console.print(text, markup=False))
