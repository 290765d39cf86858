"""PUBLIC. What may leave the curator: a private map, its tree, its answers, its file."""
