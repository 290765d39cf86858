"""Cities in memory: read once, shared, safe to show."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from explorer.app.curator import data
from explorer.app.work.cache import Shelf
from explorer.cities.city import City
from explorer.errors import InputError
from explorer.grid import cells
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import Points
from explorer.views.viewport import Viewport


@pytest.fixture
def catalogue(monkeypatch):
    """A catalogue of two tiny cities that counts how often each is read."""
    reads: list[tuple[str, object]] = []

    def city(key, title, is_matrix=False):
        def load(side, contribution_bound=None):
            reads.append((key, side))
            if is_matrix:
                return None, FrequencyMatrix.from_array(np.ones((6, 9), int)), None
            grid = Grid.cells((side, side))
            points = Points(
                np.array([0.5, 1.5]),
                np.array([0.5, 0.5]),
                crs=None,
                user=np.array([0, 0]),
                notes=("<i>2 rows</i>",),
            )
            return points, *points.place_on(grid, contribution_bound)

        return SimpleNamespace(
            title=title, is_matrix=is_matrix, has_users=not is_matrix, load_placed=load
        )

    known = {"tiny": city("tiny", "<b>Tiny</b>"), "matrix": city("matrix", "Matrix", True)}
    monkeypatch.setattr(data.cities, "cities", lambda: known)
    for shelf in ("_CITIES", "_HEATS"):
        monkeypatch.setattr(data, shelf, Shelf(4))
    return reads


def test_a_city_is_read_once_even_by_visitors_at_the_same_moment(catalogue) -> None:
    with ThreadPoolExecutor(8) as pool:
        cities = list(pool.map(lambda _: data.load_city("tiny", 4), range(8)))
    assert len({id(city) for city in cities}) == 1
    assert catalogue == [("tiny", 4)]
    assert data.is_loaded("tiny", 4)
    assert not data.is_loaded("tiny", 8)


def test_another_grid_shares_the_points(catalogue) -> None:
    four, eight = data.load_city("tiny", 4), data.load_city("tiny", 8)
    assert four.heat is eight.heat
    assert eight.matrix.shape == (8, 8)
    assert len(catalogue) == 2


@pytest.mark.usefixtures("catalogue")
def test_strings_of_files_are_safe() -> None:
    city = data.load_city("tiny", 4)
    assert city.title == "‹b›Tiny‹/b›"
    assert "<" not in city.notes[0]


def test_a_matrix_keeps_its_own_cells_and_has_no_points(catalogue) -> None:
    city = data.load_city("matrix", 1024)
    assert city.matrix.shape == (6, 9)
    assert city.heat is None
    assert catalogue == [("matrix", None)]
    assert city.city == ("matrix", 1024, 0)


@pytest.mark.usefixtures("catalogue")
def test_a_bound_makes_a_record_a_user_and_the_true_map_is_of_all_records() -> None:
    points, users = data.load_city("tiny", 4), data.load_city("tiny", 4, 1)
    assert (points.matrix.unit, points.matrix.total) == ("point", 2)
    assert (users.matrix.unit, users.matrix.contribution_bound, users.matrix.total) == (
        "user",
        1,
        1,
    )
    assert points.has_users
    assert data.is_loaded("tiny", 4, 1)
    assert not data.is_loaded("tiny", 4, 2)
    assert users.every.total == 2
    assert users.heat is points.heat
    # Two dots of three pixels on a side, and of cells both.
    view = Viewport.whole(users.grid, 16)
    assert (users.truth(view, True).shown > 0).sum() == 18
    assert users.truth(view, False).cells.sum() == points.truth(view, False).cells.sum()


@pytest.mark.usefixtures("catalogue")
def test_a_city_without_users_has_no_bound() -> None:
    assert data.load_city("matrix", 8, 5) is data.load_city("matrix", 8)


@pytest.mark.usefixtures("catalogue")
def test_an_unknown_city_is_one_sentence() -> None:
    with pytest.raises(InputError, match="tiny, matrix"):
        data.load_city("<nowhere>", 4)


@pytest.mark.usefixtures("catalogue")
def test_a_failed_read_is_tried_again() -> None:
    known = data.cities.cities()
    good = known["tiny"].load_placed

    def bad(*_):
        raise InputError("gone")

    known["tiny"].load_placed = bad
    with pytest.raises(InputError):
        data.load_city("tiny", 4)
    known["tiny"].load_placed = good
    assert data.load_city("tiny", 4).matrix.total == 2


def test_loading_a_city_projects_every_point_once(monkeypatch, tmp_path) -> None:
    rng = np.random.default_rng(5)
    rows = [f"{x},{y}" for x, y in rng.normal((10.0, 50.0), 0.02, (3000, 2))]
    (tmp_path / "p.csv").write_text("lon,lat\n" + "\n".join(rows))
    # So few that patches are not worth it: each point goes through the projection itself.
    extent = {"around": [10.0, 50.0], "size_km": 3000}
    town = City("town", "Town", extent=extent, file=tmp_path / "p.csv")
    monkeypatch.setattr(data.cities, "cities", lambda: {"town": town})
    for shelf in ("_CITIES", "_HEATS"):
        monkeypatch.setattr(data, shelf, Shelf(4))
    projected: list[int] = []
    made = cells.transformer

    class Counted:
        def __init__(self, *crs) -> None:
            self.to = made(*crs)

        def transform(self, x, y, **how):
            projected.append(np.size(x))
            return self.to.transform(x, y, **how)

    monkeypatch.setattr(cells, "transformer", Counted)
    city = data.load_city("town", 64)
    city.truth(Viewport.whole(city.grid), True)
    assert projected == [3000]
    assert city.matrix.total == len(city.heat) == 3000
