"""Numbers from outside, see `explorer.grid.values`."""

from explorer.grid.values import finite, shown

__all__ = ["finite", "shown"]
