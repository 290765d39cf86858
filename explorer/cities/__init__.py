"""EXACT. Cities to look at: the catalogue, their files and downloads, and made-up ones."""

from explorer.cities.catalogue import cities, find

__all__ = ["cities", "find"]
