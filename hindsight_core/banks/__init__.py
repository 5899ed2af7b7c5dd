"""Banks: where facts are kept and found again."""
