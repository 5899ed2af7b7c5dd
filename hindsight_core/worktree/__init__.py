"""The working tree: where a fact was said, and whether the files that it names are still so."""
