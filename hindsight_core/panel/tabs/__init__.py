"""The built-in tabs, one file each."""
