"""Transcripts: entries, their active path, windows, projections and the sanitising boundary."""
