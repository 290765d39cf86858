"""The files of a published release: their names are ours, and there are no others."""

from __future__ import annotations

RELEASE = "release.parquet"
PACKAGE = "leaves.gpkg"
GEOJSON = "leaves.geojson"
TABLE = "leaves.csv"
DENSITY = "density.tif"
PICTURE = "map.png"
REPORT = "report.html"
REGISTRY = "registry.yaml"
MANIFEST = "manifest.json"
SIGNATURE = "signature.json"

#: What each file is, as the manifest and the report say it, in their order.
FILES = {
    RELEASE: "GeoParquet: the release itself, which dp-explorer and Python load again",
    PACKAGE: "GeoPackage: the leaves, in the CRS of the map",
    GEOJSON: "GeoJSON: the leaves, in longitude and latitude (WGS 84)",
    TABLE: "CSV: the leaves as a table, edges in the CRS of the map",
    DENSITY: "Cloud Optimized GeoTIFF: the density, private records per cell",
    PICTURE: "PNG: the map with scale, legend and caption",
    REPORT: "HTML: the report, to read offline or to print",
    REGISTRY: "YAML: a draft for the public registry of deployments",
}
#: What has to be there: the files above, and the manifest that lists them.
REQUIRED = (*FILES, MANIFEST)
