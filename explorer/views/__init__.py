"""Figures made from plain data: colours, pictures, maps, bars. No mechanism is computed here."""

from explorer.views.markup import safe_text
from explorer.views.notebook import to_holoviews
from explorer.views.partition import Leaves, Partition, partition
from explorer.views.scale import ColourScale
from explorer.views.viewport import Viewport

__all__ = [
    "ColourScale",
    "Leaves",
    "Partition",
    "Viewport",
    "partition",
    "safe_text",
    "to_holoviews",
]
