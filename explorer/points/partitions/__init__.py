"""Points in many files, or more than fit the memory: looked at first, counted part by part."""

from explorer.points.partitions.files import PointFiles, scan_points
from explorer.points.partitions.listing import is_parquet

__all__ = ["PointFiles", "is_parquet", "scan_points"]
