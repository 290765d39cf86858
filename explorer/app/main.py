"""Script for ``panel serve explorer/app/main.py``."""

from explorer.app import Explore

Explore().servable()
