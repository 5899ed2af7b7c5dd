"""Facts as text files in a repository: they travel with git, and three-way with the bank."""
