"""PUBLIC. What may leave the curator's desk: a private map, its tree, its answers, its file."""
