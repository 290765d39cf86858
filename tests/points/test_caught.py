"""An extent that catches nothing says so to the curator, once, and without a count."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from explorer import HTF, Grid, read_points, scan_points
from explorer.points.caught import ExtentWarning, few_inside

RNG = np.random.default_rng(5)
BERLIN = pd.DataFrame(
    {"lon": RNG.uniform(13.3, 13.5, 500), "lat": RNG.uniform(52.4, 52.6, 500), "who": range(500)}
)
TURNED = Grid.around(52.5, 13.4, 20_000, shape=16)
RIGHT = Grid.around(13.4, 52.5, 20_000, shape=16)


@pytest.mark.parametrize("parts", [False, True], ids=["whole", "in parts"])
def test_latitude_first_is_noticed(tmp_path, parts):
    path = tmp_path / "berlin.parquet"
    BERLIN.to_parquet(path)
    points = scan_points(path) if parts else read_points(path)
    with pytest.warns(ExtentWarning, match="is longitude first") as told:
        matrix = TURNED.count(points)
    assert len(told) == 1
    assert told[0].filename == __file__
    # The curator alone hears of it: neither what is counted nor what is released knows.
    said = str(told[0].message)
    assert not re.search(r"\d", said.replace("1 %", ""))
    assert said not in HTF(epsilon=1).release(matrix, rng=1).summary()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert RIGHT.count(points).total > 400


def test_what_a_bound_leaves_out_was_not_outside():
    assert few_inside(3, 10_000, bound=1) is None
    assert few_inside(0, 10_000, bound=1) is not None
    assert few_inside(99, 10_000) is not None
    assert few_inside(100, 10_000) is None
    assert few_inside(0, 50) is None
