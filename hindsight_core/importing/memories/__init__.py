"""What other memories and a person's own notes hold, as facts."""
