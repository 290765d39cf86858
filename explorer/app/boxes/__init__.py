"""The boxes of a screen: drawn, typed, read from files, listed in a table."""
