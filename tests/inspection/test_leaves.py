"""All leaves as columns: what is in them, filters, order, files."""

import json

import numpy as np
import pytest

from explorer import HTF
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.inspection import inspect
from explorer.inspection.leaves import LeafTable, read_span
from explorer.points.matrix import FrequencyMatrix


@pytest.fixture(scope="module")
def table():
    grid = Grid.around(2.35, 48.85, 8000, shape=32)
    matrix = FrequencyMatrix.from_array(np.random.default_rng(9).poisson(9, (32, 32)), grid)
    return LeafTable.of(HTF(epsilon=0.5).release(matrix, rng=3), matrix)


def test_columns_say_what_the_inspector_says_of_each_leaf(table) -> None:
    release = table.release
    assert table.true.sum() == pytest.approx(
        (table.columns["private"] - table.columns["error"]).sum()
    )
    for leaf in (0, len(table) // 2, len(table) - 1):
        node = inspect(release, int(release.tree.leaves[leaf]))
        row = {name: column[leaf] for name, column in table.columns.items()}
        assert (row["depth"], row["private"], row["noise"]) == (node.depth, node.count, node.sd)
        assert row["cells"] == np.prod(node.shape)
        assert row["leaf"] == node.leaf + 1


def test_filters_hold_together_and_orders_are_stable(table) -> None:
    deep = int(np.median(table.columns["depth"]))
    rows = table.where({"depth": (deep, deep), "private": (0.0, np.inf)})
    expected = [
        i
        for i in range(len(table))
        if table.columns["depth"][i] == deep and table.columns["private"][i] >= 0
    ]
    assert rows.tolist() == expected
    by_error = np.abs(table.columns["error"][table.ordered(rows, "error", down=True)])
    assert (np.diff(by_error) <= 0).all()
    same = table.ordered(rows, "depth")
    assert same.tolist() == expected, "equal ones keep the order of the release"


def test_a_file_of_leaves_is_wgs84_and_exact_only_when_it_says_so(table) -> None:
    rows = np.array([4, 1])
    plain, exact = (json.loads(table.geojson(rows, exact=each)) for each in (False, True))
    assert [each["properties"]["leaf"] for each in plain["features"]] == [5, 2]
    x, y = plain["features"][0]["geometry"]["coordinates"][0][0]
    assert abs(x - 2.35) < 0.1
    assert abs(y - 48.85) < 0.1
    released = plain["features"][0]["properties"]
    assert not {"EXACT", "error", "true"} & {*released}
    assert released["count"] == pytest.approx(table.columns["private"][4])
    assert exact["features"][1]["properties"]["EXACT"] == table.true[1]
    assert "EXACT" in exact["description"]
    assert "EXACT" not in plain["description"]


@pytest.mark.parametrize("text", ["seven", "7 to 3", "to", "3 to 4 to 5", "nan", "inf", "-"])
def test_what_is_no_range_is_refused(text) -> None:
    with pytest.raises(InputError):
        read_span(text)
