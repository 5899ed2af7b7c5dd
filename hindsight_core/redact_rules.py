"""Shapes of secrets, as data: what a value looks like, or what name it stands next to."""
