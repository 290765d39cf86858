"""Charts and maps of the lessons: figures built once, whose data sources are replaced."""
