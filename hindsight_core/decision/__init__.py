"""Decisions before anything is searched or stored: a ladder of backends, and what was decided."""
