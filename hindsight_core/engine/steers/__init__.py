"""Steers of one session: when to look, what may be sent again, and sending it."""
