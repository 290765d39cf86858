"""EXACT. A country: counts of named areas, and a map inside each of them."""
