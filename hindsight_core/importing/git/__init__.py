"""A repository's history as something that memory can read."""
