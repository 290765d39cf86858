"""Points in many files, or more than fit the memory: looked at first, counted part by part."""

from explorer.points.partitions.listing import is_parquet
from explorer.points.partitions.scan import PointFiles, scan_points

__all__ = ["PointFiles", "is_parquet", "scan_points"]
