"""What survives a session: the write queue, cursors, the turn journal, usage."""
