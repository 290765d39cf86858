"""EXACT. Records with a place: read, cleaned, counted into cells, and asked for the truth."""
