"""The published folder of a release, for others to read, check and quote. Knows no exact number."""
