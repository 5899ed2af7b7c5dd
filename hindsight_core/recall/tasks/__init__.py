"""Tasks inside a session: where one begins, and what memory says about it then (pi/T)."""
