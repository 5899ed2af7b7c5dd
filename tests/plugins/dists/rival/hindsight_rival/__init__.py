"""Registers names that others have: an embedder of a plugin, a bank of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core import hookimpl

if TYPE_CHECKING:
    from hindsight_core.hookspecs import Register


@hookimpl
def hindsight_register_embedders(register: Register) -> None:
    """``toy`` is taken."""
    register("toy", lambda settings, services: None)


@hookimpl
def hindsight_register_banks(register: Register) -> None:
    """``sqlite`` is the core's."""
    register("sqlite", lambda settings, services: None)
