"""The host protocol on standard input and output."""
