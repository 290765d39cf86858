"""PUBLIC. Declared areas, such as districts: tree, boundaries, which place lies in which."""
