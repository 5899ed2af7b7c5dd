"""Memorizing: a window of a session becomes facts, and those go into the bank."""
