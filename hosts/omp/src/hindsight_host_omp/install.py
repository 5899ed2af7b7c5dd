"""Writes omp's wiring: a folder of ours among omp's extensions; no setting is touched."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_core.errors import ConfigError
from hindsight_core.extension_host.shim import removed, shim_changes
from hindsight_core.host import Change, InstallPlan, InstallRequest
from hindsight_host_omp.originals import named, placed
from hindsight_host_omp.places import config_dir, config_file, extension_dir
from hindsight_host_omp.yaml_text import YamlText

SHIM_FILES = ("index.ts", "offer.ts")
BRIDGE_FILES = ("client.js", "screen.js", "extension.js")
LIST = "extensions"


def install(request: InstallRequest) -> InstallPlan:
    """The extension: the shim, its client, how to start the bridge.

    Raises:
        ConfigError: omp's settings cannot be parsed, or an original plugin is installed and the
            user did not say that it may be replaced: two memories would store everything twice.
    """
    settings = YamlText(config_file(config_dir(request)))
    notes = [*_replaced(settings, request), *_own_memory(settings)]
    changes = [Change(settings.path, settings.before, settings.text or None), *_shim(request)]
    return InstallPlan(tuple(c for c in changes if c.before != c.after), tuple(notes))


def uninstall(request: InstallRequest) -> InstallPlan:
    """The extension's files away; everything else stays."""
    changes = removed(_shim(request))
    return InstallPlan(tuple(c for c in changes if c.before != c.after))


def obstacles(request: InstallRequest) -> Sequence[str]:
    """What in omp's settings keeps this memory off."""
    return _own_memory(YamlText(config_file(config_dir(request))))


def _replaced(settings: YamlText, request: InstallRequest) -> list[str]:
    listed = [name for item in settings.items(LIST) if (name := named(item))]
    others = dict(placed(request))
    if others or (listed and not request.replace):
        found = ", ".join([*listed, *others])
        ways = [f"`hindsight-mem install omp --replace` takes it out of {settings.path}"]
        ways = [*(ways if listed else []), *others.values()]
        raise ConfigError(
            f"omp already loads {found}: memory would be stored twice. To take its place: "
            f"{'; '.join(ways)}. Its options stay where they are and are read."
        )
    for name in listed:
        settings.drop(LIST, settings.items(LIST).index(name))
    return [f"Took {name} out of {settings.path}." for name in listed]


def _own_memory(settings: YamlText) -> list[str]:
    memory = settings.value.get("memory")
    backend = memory.get("backend") if isinstance(memory, dict) else None
    backend = settings.value.get("memory.backend", backend)
    if backend in (None, False, "off"):
        return []
    return [
        f"omp's own memory is on (memory.backend: {backend} in {settings.path}). While it is, this "
        "one stays off, so that nothing is stored or recalled twice; set memory.backend to off."
    ]


def _shim(request: InstallRequest) -> list[Change]:
    return shim_changes(
        request,
        package="hindsight_host_omp",
        own=SHIM_FILES,
        shared=BRIDGE_FILES,
        folder=extension_dir(request),
    )
