"""The source ``candidates``: what a user said or a long investigation found, checked twice."""
