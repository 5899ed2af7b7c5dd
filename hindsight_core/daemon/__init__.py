"""One resident process a user that answers spawned hooks, and the thin client that asks it."""
