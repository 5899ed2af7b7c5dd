"""The transcript source: what was said goes to the bank as it was said, each entry once."""
