"""The Publish page: a drawn release becomes a folder for others."""
