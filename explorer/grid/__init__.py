"""PUBLIC. The declared domain: which part of the Earth, and how finely. Knows no point."""
