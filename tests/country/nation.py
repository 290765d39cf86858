"""A made-up nation: three countries, one of them with a single region, on a metric plane."""

import geopandas
import numpy as np
import shapely

from explorer import Areas, Points

CRS = "+proj=laea +lat_0=50 +lon_0=10 +datum=WGS84 +units=m +no_defs"


def nation() -> Areas:
    """Return ten districts of 10 km; borders run askew, one has a hole that is another."""
    squares = {
        ("East", "Coast", "Port"): (0, 0), ("East", "Coast", "Bay"): (1, 0),
        ("East", "Hills", "Vale"): (2, 0), ("East", "Hills", "Tor"): (2, 1),
        ("East", "Hills", "Peak"): (3, 0), ("West", "Plain", "Ford"): (0, 1),
        ("West", "Plain", "Mill"): (1, 1), ("West", "Lakes", "Mere"): (0, 2),
        ("West", "Lakes", "Tarn"): (1, 2), ("North", "Moor", "Fell"): (0, 3),
        ("North", "Moor", "Dale"): (1, 3),
    }  # fmt: skip
    rows, shapes = [], []
    for path, (east, north) in squares.items():
        x, y = 10_000.0 * east, 10_000.0 * north
        corners = [(x, y), (x + 10_000, y), (x + 10_000, y + 10_000), (x, y + 10_000)]
        # One mapping of the plane for all: neighbours keep their common borders.
        shapes.append(shapely.Polygon([(a + 0.1 * b + 37.0, b + 0.05 * a) for a, b in corners]))
        rows.append(path)
    frame = geopandas.GeoDataFrame(
        rows, columns=["country", "region", "district"], geometry=shapes, crs=CRS
    )
    return Areas.read(frame, ["country", "region", "district"])


def people(n: int = 4000, seed: int = 0) -> Points:
    """Return places in towns and all over the land, some in the sea."""
    rng = np.random.default_rng(seed)
    towns = np.array([[5_000, 5_000], [26_000, 8_000], [8_000, 33_000]])
    near = towns[rng.integers(0, 3, n // 2)] + rng.normal(0, 1_500, (n // 2, 2))
    far = rng.uniform(-2_000, 45_000, (n - n // 2, 2))
    x, y = np.concatenate([near, far]).T
    return Points(x, y, CRS)
