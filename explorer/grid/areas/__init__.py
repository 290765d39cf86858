"""PUBLIC. Declared areas, such as districts: tree, boundaries, which place is in which."""
