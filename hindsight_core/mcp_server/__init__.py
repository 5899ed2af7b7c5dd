"""The memory tools as an MCP server, for agents that have no lifecycle of ours."""
