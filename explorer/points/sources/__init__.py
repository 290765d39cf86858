"""Where points come from: files and frames, each opened for a look before anything is read."""

from explorer.points.identity import codes
from explorer.points.sources.opening import open_source
from explorer.points.sources.tables import MAX_ROWS, Columns, Source, numbers

__all__ = ["MAX_ROWS", "Columns", "Source", "codes", "numbers", "open_source"]
