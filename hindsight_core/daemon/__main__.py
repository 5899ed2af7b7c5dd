"""``python -m hindsight_core.daemon HOME LOCK``: started by a hook, with the lock inherited."""

from __future__ import annotations

import gc
import os
import sys

if __name__ == "__main__":
    # A hook waits for this: nothing is collected, and nothing looked up for pydantic's plugins,
    # before the imports are done.
    gc.disable()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from hindsight_core.daemon.server import serve

    serve(sys.argv[1], int(sys.argv[2]))
