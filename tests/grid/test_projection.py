"""CRS are checked with a sentence, and a box is held by its box in another CRS."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import InputError
from explorer.grid.projection import LONLAT, as_crs, box_in, equal_area_crs, metric_crs, transform


def test_a_grid_needs_a_projected_crs_in_metres():
    assert metric_crs(27700).to_epsg() == 27700
    for crs, said in [
        ("EPSG:4326", "not measured in metres"),
        ("EPSG:2263", "US survey foot"),
        ("nonsense", "not a known CRS"),
        (object(), "not a known CRS"),
    ]:
        with pytest.raises(InputError, match=said):
            metric_crs(crs)


def test_a_crs_without_a_way_to_degrees_is_refused():
    local = as_crs(
        'ENGCRS["site",EDATUM["site"],CS[Cartesian,2],AXIS["x",east],AXIS["y",north],'
        'LENGTHUNIT["metre",1]]'
    )
    with pytest.raises(InputError, match="no way from"):
        transform(local, LONLAT, 0.0, 0.0)


def test_equal_area_means_equal_area():
    # A square degree at 60 north has about half the area of one at the equator; so on the map.
    crs = equal_area_crs(10.0, 30.0)
    areas = []
    for lat in (0.0, 60.0):
        lon = np.linspace(9.5, 10.5, 201)
        ring_lon = np.concatenate([lon, np.full(201, 10.5), lon[::-1], np.full(201, 9.5)])
        up = np.linspace(lat - 0.5, lat + 0.5, 201)
        ring_lat = np.concatenate([np.full(201, up[0]), up, np.full(201, up[-1]), up[::-1]])
        x, y = transform(LONLAT, crs, ring_lon, ring_lat)
        areas.append(abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2)
    # Areas of a square degree of the WGS 84 ellipsoid, from its closed form, km2.
    assert np.allclose(areas, [_square_degree(0.0), _square_degree(60.0)], rtol=1e-6)


def _square_degree(lat: float) -> float:
    a, e2 = 6378137.0, 0.0066943799901413165
    e = np.sqrt(e2)

    def q(degrees: float) -> float:
        s = np.sin(np.deg2rad(degrees))
        return (1 - e2) * (s / (1 - e2 * s * s) + np.arctanh(e * s) / e)

    return np.deg2rad(1.0) * a * a / 2 * (q(lat + 0.5) - q(lat - 0.5))


@given(
    lon=st.floats(-180, 180),
    lat=st.floats(-89, 89),
    size=st.floats(100, 3e6),
    u=st.floats(0, 1),
    v=st.floats(0, 1),
)
def test_a_box_in_degrees_holds_every_place_of_the_extent(lon, lat, size, u, v):
    crs = equal_area_crs(lon, lat)
    box = box_in((-size / 2, -size / 2, size / 2, size / 2), crs, LONLAT)
    x, y = transform(crs, LONLAT, (u - 0.5) * size, (v - 0.5) * size)
    if box is None:
        return  # around a pole there may be none: then nothing is cropped
    west, south, east, north = box
    assert south <= y[0] <= north
    assert (x[0] - west) % 360.0 <= (east - west) % 360.0 or east - west >= 360.0
