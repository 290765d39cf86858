"""PUBLIC. Questions to a map: boxes and shapes, and their files."""
