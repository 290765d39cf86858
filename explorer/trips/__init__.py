"""EXACT. Trips: records with several places each, counted sparsely in four axes or more."""
