"""Recall: plan, search, filter, judge, merge, place."""
