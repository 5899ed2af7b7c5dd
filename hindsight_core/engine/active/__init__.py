"""Active memory in one session: upkeep of its facts, the running investigation."""
