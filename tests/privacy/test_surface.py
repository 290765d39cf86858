"""What an audit compares of the files of a release: every byte, at one hour of writing."""

from __future__ import annotations

import numpy as np
import pyogrio

from explorer import UG, FrequencyMatrix, Grid
from explorer.privacy.audit import surface as module
from explorer.privacy.audit.surface import surface


def written(hour: str, monkeypatch) -> bytes:
    monkeypatch.setattr(module, "HOUR", {"OGR_CURRENT_DATE": hour})
    grid = Grid.around(2.35, 48.85, 8000, shape=16)
    matrix = FrequencyMatrix.from_array(np.arange(256).reshape(16, 16), grid)
    files = surface(UG(0.5).release(matrix, rng=1), files=True).files
    assert files["map.gpkg"].startswith(b"SQLite format 3\0")
    return files["map.gpkg"]


def test_files_are_compared_byte_by_byte_and_the_hour_is_the_same(monkeypatch) -> None:
    """GeoPackage keeps it, and sometimes it decides how often a page is written."""
    hour = module.HOUR["OGR_CURRENT_DATE"]
    assert written(hour, monkeypatch) == written(hour, monkeypatch)
    # Nothing is left out: another hour is another file.
    assert written("2001-02-03T04:05:06.789Z", monkeypatch) != written(hour, monkeypatch)
    assert pyogrio.get_gdal_config_option("OGR_CURRENT_DATE") is None, "for an audit alone"
