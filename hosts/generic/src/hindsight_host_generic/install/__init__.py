"""Writes the configuration files of agents: hooks, MCP servers, skills."""
