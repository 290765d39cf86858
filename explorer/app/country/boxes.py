"""Columns of the table of boxes on a country."""

from __future__ import annotations

from explorer.app.boxes.answers import LEAVES
from explorer.app.curator.answers import CAUSES, COLUMNS

# Which part of an error is noise is not known of areas that are answered by their own counts.
BOXES = tuple(column for column in COLUMNS if column not in (LEAVES, CAUSES))
