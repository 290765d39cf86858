"""Panels of the Explore page that take a closer look."""
