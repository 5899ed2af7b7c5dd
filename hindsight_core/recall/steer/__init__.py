"""Steers: memories sent into the agent's running loop when they would change its next steps."""
