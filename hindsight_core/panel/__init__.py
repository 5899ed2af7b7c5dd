"""The panel: tabs as state and lines, drawn by a host's component or in a terminal."""
