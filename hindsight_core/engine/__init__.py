"""What a host drives: sessions, turns, tools, in protocol.md's terms."""
