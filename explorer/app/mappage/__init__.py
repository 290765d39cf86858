"""Pages with maps: their frame, drawers, drawn releases, maps and what is read next to them."""
