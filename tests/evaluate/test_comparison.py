"""A table of every answer of several mechanisms: its figures are those of its parts."""

from __future__ import annotations

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

from explorer import AG, HTF, UG, FrequencyMatrix, Grid, InputError, Mosaic, compare, exact

GRID = Grid.around(4.9, 52.37, 10_000, shape=32)
MATRIX = FrequencyMatrix(np.random.default_rng(2).poisson(8.0, (32, 32)), GRID)
SHAPES = gpd.GeoDataFrame(
    {"name": ["ring", "west"]},
    geometry=[shapely.Point(0, 0).buffer(2500), shapely.box(-4000, -3000, -500, 900)],
    crs=GRID.crs,
)


def test_a_row_for_each_mechanism_epsilon_repeat_and_box() -> None:
    def made(rng: int = 0) -> pd.DataFrame:
        kinds = [HTF, "ag", UG(grid_size=4)]
        return compare(MATRIX, kinds, [0.5, 1], SHAPES, rng=rng, repeat=3, progress=False)

    table = made()
    assert len(table) == 3 * 2 * 3 * 2
    assert table.box.unique().tolist() == ["ring", "west"]
    assert table.columns.tolist() == [
        "mechanism", "epsilon", "repeat", "box", "true", "private", "noise_sd", "low", "high",
        "error", "from_noise", "from_spread",
    ]  # fmt: skip
    assert table.true.to_numpy() == pytest.approx(np.tile(exact(MATRIX, SHAPES), 18))
    assert (table.private - table.true).to_numpy() == pytest.approx(table.error.to_numpy())
    parts = (table.from_noise + table.from_spread).to_numpy()
    assert parts == pytest.approx(table.error.to_numpy(), abs=1e-6)
    assert table.equals(made())
    assert not table.equals(made(rng=1))


def test_boxes_and_the_polygons_that_they_are_have_the_same_rows() -> None:
    boxes = [[-4000, -3000, -500, 900], [0, 0, 1250, 1250]]
    kinds = [HTF, Mosaic, UG]
    plain = compare(MATRIX, kinds, [1], boxes, progress=False)
    as_shapes = compare(MATRIX, kinds, [1], list(shapely.box(*np.array(boxes).T)), progress=False)
    for column in ("true", "private", "noise_sd", "error", "from_noise", "from_spread"):
        assert as_shapes[column].to_numpy() == pytest.approx(plain[column].to_numpy(), abs=1e-6)


def test_where_no_leaf_is_cut_all_error_is_noise() -> None:
    table = compare(MATRIX, [UG(grid_size=4)], [1], [[-5000, -5000, 0, 2500]], progress=False)
    assert table.from_spread.abs().max() < 1e-9
    assert (table.from_noise == table.error).all()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"mechanisms": []}, "at least one"),
        ({"epsilons": []}, "at least one"),
        ({"mechanisms": ["hft"]}, "no mechanism 'hft'"),
        ({"mechanisms": [3]}, "3 is no mechanism"),
        ({"epsilons": [0.0]}, "Epsilon is 0"),
        ({"repeat": 0}, "number of repeats"),
        ({"rng": None}, "rng is None"),
        ({"repeat": 10**7}, "rows"),
        ({"where": [[4.88, 52.35, 4.9, 52.36]]}, "look like degrees"),
        ({"level": 95}, "level of an interval"),
    ],
)
def test_what_cannot_be_compared(changed: dict, sentence: str) -> None:
    how = {"mechanisms": [UG], "epsilons": [1], "where": SHAPES, "progress": False} | changed
    places = [how.pop(each) for each in ("mechanisms", "epsilons", "where")]
    with pytest.raises(InputError, match=sentence):
        compare(MATRIX, *places, **how)


def test_settings_of_one_mechanism_are_told_apart() -> None:
    table = compare(MATRIX, [UG, UG(grid_size=4), AG], [0.5, 1], SHAPES, progress=False)
    assert table.mechanism.unique().tolist() == ["ug", "ug(grid_size=4)", "ag"]
    assert (table.groupby(["mechanism", "epsilon", "box"]).size() == 1).all()
