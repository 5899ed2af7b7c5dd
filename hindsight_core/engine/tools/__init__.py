"""The agent's tools: one file a tool, all in one box."""
