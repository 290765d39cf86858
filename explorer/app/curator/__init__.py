"""What curator pages share: data, drawing, maps, uploads. EXACT."""
