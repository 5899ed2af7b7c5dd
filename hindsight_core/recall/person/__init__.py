"""The user block: what is known about the person, in the system prompt (pi/UB)."""
