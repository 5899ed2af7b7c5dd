"""Readers of task lists that agents keep in their session records."""
