"""Panels of the Explore page that explain a map."""
