"""Replay of releases of a country, structures compared, and the bugs that it must find.

Neighbours differ by one record, or by a user of k records anywhere in the country.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

from explorer.country import budgets as country_budgets
from explorer.country import mechanism
from explorer.country.mechanism import Country
from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.windows import Windows
from explorer.points.area_counts import AreaCounts
from explorer.points.points import Points
from explorer.privacy.audit.loss import Breach, Loss
from explorer.privacy.audit.replay import Chosen, Recording
from explorer.privacy.noise import PreviewNoise
from explorer.releases.units import to_units
from tests.audit import country_mutants as mutants
from tests.audit.planting import planted

pytestmark = pytest.mark.audit

CRS = "+proj=laea +lat_0=50 +lon_0=10 +datum=WGS84 +units=m +no_defs"
EPSILON = 0.9
UNITS = to_units(EPSILON)


def land(seed: int) -> Windows:
    """A strip of areas in a tree of uneven depth, some of them only children."""
    rng = np.random.default_rng(seed)
    paths: list[tuple[str, str, str]] = []
    for country in range(rng.integers(1, 4)):
        for region in range(rng.integers(1, 4)):
            paths += [
                (f"c{country}", f"r{country}{region}", f"d{country}{region}{district}")
                for district in range(rng.integers(1, 4))
            ]
    shapes = [shapely.box(1000.0 * i, 0, 1000.0 * (i + 1), 1000) for i in range(len(paths))]
    columns = ["country", "region", "district"]
    frame = geopandas.GeoDataFrame(paths, columns=columns, geometry=shapes, crs=CRS)
    areas = Areas.read(frame, columns)
    return Windows(areas, areas.lattice(250.0))


def counted(windows: Windows, atoms: np.ndarray, bound: int = 1) -> AreaCounts:
    """Counts of atoms (n, 2): area and cell."""
    unit = "point" if bound == 1 else "user"
    return AreaCounts(windows, *atoms.T, np.ones(len(atoms), dtype=np.int64), bound, unit)


def drawn_atoms(windows: Windows, rng: np.random.Generator, n: int) -> np.ndarray:
    area = rng.integers(0, len(windows.areas), n)
    cols = windows.grid.shape[1]
    atoms = np.empty((n, 2), dtype=np.int64)
    for at, each in enumerate(area):
        row, col, rows, columns = windows.lattice.windows[each]
        cell = (row + rng.integers(rows)) * cols + col + rng.integers(columns)
        atoms[at] = each, cell
    return atoms


def published(country: Country):
    def run(counts: AreaCounts, noise: Any):
        # All of it, public parts as well: they must not depend on a record either.
        made = country.release(counts, rng=noise)
        return made, repr(made)

    return run


def settings(seed: int) -> Country:
    rng = np.random.default_rng(1000 + seed)
    return Country(
        epsilon=EPSILON,
        inside=str(rng.choice(["uniform", "ug", "quadtree", "htf", "mosaic", "privtree", "none"])),
        budgets=str(rng.choice(list(country_budgets.RULES))),
        own_share=float(rng.choice([0, 0.1, 0.3, 0.5])),
        threshold=None if rng.random() < 0.4 else float(rng.integers(0, 60)),
        consistency=str(rng.choice(["non-negative", "least squares", "drawn"])),
    )


def losses(country: Country, seed: int, bound: int = 1, styles=("still", "wild", "")) -> list[Loss]:
    """The loss on either side of a pair, under noise of several styles."""
    rng = np.random.default_rng(seed)
    windows = land(seed)
    without = drawn_atoms(windows, rng, int(rng.integers(0, 80)))
    having = np.concatenate([without, drawn_atoms(windows, rng, bound)])
    pair = counted(windows, without, bound), counted(windows, having, bound)
    country = at_a_turn(country, *pair, rng)
    found = []
    for one, other in (pair, pair[::-1]):
        for style in styles:
            source = Chosen(seed, style) if style else PreviewNoise(seed)
            found.append(Recording.of(published(country), one, source).replay(other))
    return found


def at_a_turn(country: Country, without: AreaCounts, having: AreaCounts, rng: Any) -> Country:
    """A threshold, if there is one, at a true count that the neighbour does not reach."""
    if country.threshold is None or rng.random() < 0.25:
        return country
    moved = np.flatnonzero(without.by_node != having.by_node)
    # The whole as often as all below it: every path begins there.
    threshold = float(having.by_node[0 if rng.random() < 0.5 else rng.choice(moved)])
    return Country(epsilon=EPSILON, **{**country.settings(), "threshold": threshold})


@pytest.mark.parametrize("seed", range(12))
def test_a_country_costs_epsilon_whatever_its_tree(seed: int) -> None:
    """0 structures differ, and no loss passes epsilon."""
    for loss in losses(settings(seed), seed):
        assert not loss.exceeds(UNITS)


@pytest.mark.parametrize("bound", [2, 3, 5])
def test_a_user_anywhere_in_the_country_costs_epsilon(bound: int) -> None:
    for seed in range(4):
        for loss in losses(settings(seed), seed, bound):
            assert not loss.exceeds(UNITS)


def test_without_noise_the_bound_is_tight() -> None:
    """Each figure on the path that moves takes its full toll: epsilon to the unit."""
    made = Country(epsilon=EPSILON, inside="uniform", budgets="uniform")
    found = losses(made, 1, styles=("still",))
    assert [loss.exact for loss in found] == [UNITS, UNITS]
    made = Country(epsilon=EPSILON, inside="none", budgets="Eq. 38")
    assert [loss.exact for loss in losses(made, 2, styles=("still",))] == [UNITS, UNITS]


UNCOUNTED = {"inside": "ug", "budgets": "lowest level", "threshold": 1, "epsilon": EPSILON}
BROKEN = AttributeError, TypeError, NameError, LookupError
PLAIN = {"inside": "uniform", "budgets": "uniform", "epsilon": EPSILON}


@pytest.mark.parametrize("name", mutants.IN_RELEASES)
@pytest.mark.planted
def test_a_bug_in_releases_is_found(name: str) -> None:
    """Pairs of several bounds and settings show a breach."""
    with planted(*mutants.IN_RELEASES[name]):
        for seed in range(12):
            for made in (Country(**PLAIN) if seed % 2 else Country(**UNCOUNTED), settings(seed)):
                try:
                    for loss in losses(made, seed, 1 + seed % 3, ("still", "down")):
                        if loss.exceeds(UNITS):
                            return
                except Breach as breach:
                    if isinstance(breach.__cause__, BROKEN):
                        raise
                    return
    pytest.fail("not found")


def two_users(areas: Areas) -> tuple[Points, Points]:
    """A user with one record, and another one beside them with one in every area."""
    x = np.concatenate([[0.0], np.arange(len(areas)) * 1000.0]) + 250.0
    user = np.concatenate([[0], np.ones(len(areas), dtype=np.int64)])
    both = Points(x, np.full(len(x), 250.0), areas.crs, user=user)
    return Points(both.x[:1], both.y[:1], areas.crs, user=user[:1]), both


def in_two_files(points: Points, folder: Path) -> tuple[Path, dict[str, Any]]:
    folder.mkdir(exist_ok=True)
    frame = pd.DataFrame({"x": points.x, "y": points.y, "user": points.user})
    for part in range(2):
        frame[part::2].to_parquet(folder / f"part-{part}.parquet")
    return folder, {"lon": "x", "lat": "y", "crs": points.crs, "user": "user"}


@pytest.mark.parametrize("bug", ["k an area", "k a file", "sea to the fullest"])
@pytest.mark.planted
def test_bugs_of_counting_are_found(bug: str, tmp_path: Path) -> None:
    """K records of a user are kept of the whole country, and no record moves another."""
    areas: Areas = land(5).areas
    bound: int | None = 2
    assert len(areas) > 3
    pair: Any = [(points, {}) for points in two_users(areas)]
    plant = mutants.K_AN_AREA
    if bug == "k a file":
        pair = [in_two_files(points, tmp_path / str(i)) for i, (points, _) in enumerate(pair)]
        plant = mutants.K_A_PART
    elif bug == "sea to the fullest":
        # Three records at sea would follow the one that comes.
        x = np.array([250.0, 250.0, 1250.0, 1250.0, -5000.0, -5000.0, -5000.0, 1250.0])
        pair = [(Points(x[:n], np.full(n, 250.0), areas.crs), {}) for n in (7, 8)]
        plant, bound = mutants.SEA_TO_THE_FULLEST, None

    def loss() -> Loss:
        one, other = (areas.count(data, 250.0, bound, **named) for data, named in pair)
        return Recording.of(published(Country(**PLAIN)), one, Chosen(0, "still")).replay(other)

    assert not loss().exceeds(UNITS)
    # The lattice does not hold a place at sea: an error that all can see.
    with planted(plant), pytest.raises((Breach, InputError)):
        loss()


class Book:
    """A ledger that writes down what it is told, without the hash of the counts."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, str, str]] = []

    def book(self, _key: str, units: int, name: str, what: str = "") -> int:
        self.rows.append((units, name, what))
        return 1


class Paid:
    """A source that draws nothing before all that will be drawn is booked."""

    preview = True

    def __init__(self, source: Any, book: Book) -> None:
        self.source, self.rows = source, book.rows

    def __getattr__(self, name: str) -> Any:
        if sum(units for units, *_ in self.rows) != UNITS:
            raise Breach("something is drawn before it is booked")
        return getattr(self.source, name)

    def laplace(self, *asked: Any) -> Any:
        return self.__getattr__("laplace")(*asked)

    def lowest(self, *asked: Any) -> Any:
        return self.__getattr__("lowest")(*asked)

    def above(self, *asked: Any) -> Any:
        return self.__getattr__("above")(*asked)


def booked(counts: AreaCounts, noise: Any):
    """A release and what the ledger has of it."""
    book = Book()
    made = Country(**PLAIN).release(counts, rng=Paid(noise, book), ledger=book)
    return made, book.rows


@pytest.mark.parametrize("name", [None, *mutants.IN_BOOKS])
def test_all_is_booked_before_anything_is_drawn(name: str | None, monkeypatch) -> None:
    """The whole price, once, and nothing about the records."""
    monkeypatch.setattr(mechanism, "is_release_grade", lambda _: True)
    windows, rng = land(3), np.random.default_rng(3)
    atoms = drawn_atoms(windows, rng, 30)
    one, other = counted(windows, atoms), counted(windows, atoms[:-1])

    def loss() -> Loss:
        return Recording.of(booked, one, Chosen(3, "still")).replay(other)

    if name is None:
        assert not loss().exceeds(UNITS)
        return
    with planted(*mutants.IN_BOOKS[name]), pytest.raises(Breach):
        loss()
