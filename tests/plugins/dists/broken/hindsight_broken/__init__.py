"""Cannot be imported: a package that it needs is not there."""

from __future__ import annotations

import a_package_that_nobody_ships  # noqa: F401
