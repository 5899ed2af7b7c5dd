"""Slash commands of a session: one file a command, all in one book."""
