"""Confidence that decays unless a memory earns its place: pure functions, and what keeps them."""
