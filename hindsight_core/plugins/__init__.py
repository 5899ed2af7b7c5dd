"""Plugins: found, isolated from one another, and called through typed methods."""

from __future__ import annotations

from hindsight_core.plugins.facade import Hooks
from hindsight_core.plugins.hosts import installed_hosts, load_host
from hindsight_core.plugins.loading import load_hooks
from hindsight_core.plugins.registries import Registered, Registry

__all__ = ["Hooks", "Registered", "Registry", "installed_hosts", "load_hooks", "load_host"]
