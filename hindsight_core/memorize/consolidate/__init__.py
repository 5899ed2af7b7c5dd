"""Pairs of memories that are alike become one, on the user's word only (am/A-COMP)."""
