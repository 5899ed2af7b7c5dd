"""State of the plugins that are replaced, taken over so that nothing is done twice or lost."""
