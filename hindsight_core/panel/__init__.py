"""The panel: tabs as state and lines, and the one-line widget."""
