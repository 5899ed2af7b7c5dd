"""Models and embedders: what they are, the chain that asks them, the reader of answers."""
