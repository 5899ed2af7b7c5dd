"""What a person brings: past sessions, git history, what other memories have kept."""
