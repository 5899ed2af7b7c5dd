"""``python -m hindsight_core.daemon HOME LOCK``: started by a hook, with the lock inherited."""

from __future__ import annotations

import sys

from hindsight_core.daemon.server import serve

if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
