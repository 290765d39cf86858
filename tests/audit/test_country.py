"""Replay of releases of a country, structures compared, and the bugs that it must find.

Neighbours differ by one record, or by a user of k records anywhere in the country.
"""

from __future__ import annotations

from dataclasses import replace
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
from explorer.points import area_counting
from explorer.points.area_counts import AreaCounts
from explorer.points.points import Points
from explorer.privacy.accounts import Accounts
from explorer.privacy.audit.loss import Breach, Loss
from explorer.privacy.audit.replay import Chosen, Recording
from explorer.privacy.curator import Curator
from explorer.privacy.forest import ForestCurator
from explorer.privacy.noise import PreviewNoise
from explorer.releases.units import to_units
from tests.audit import country_mutants as mutants

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
PLAIN = {"inside": "uniform", "budgets": "uniform", "epsilon": EPSILON}


def worst(country: Country, seeds=range(3), **more: Any) -> bool:
    """Whether a loss beyond epsilon is found."""
    return any(loss.exceeds(UNITS) for seed in seeds for loss in losses(country, seed, **more))


@pytest.mark.planted
def test_a_level_forgotten_is_found(monkeypatch) -> None:
    """The planted bug: counts of one level are on no account when the next is drawn."""
    pay = Accounts.pay

    def forgetful(self, ids, paid, agree=None):
        depth = np.zeros(len(self), dtype=np.int64)
        for node in range(1, len(self)):
            depth[node] = depth[self.parent[node]] + 1
        one = len(ids) > 0 and depth[ids[0]] == 1
        return pay(self, ids, np.zeros_like(paid) if one else paid, agree)

    assert not worst(Country(**PLAIN))
    monkeypatch.setattr(Accounts, "pay", forgetful)
    assert worst(Country(**PLAIN))


@pytest.mark.planted
def test_a_test_on_the_true_count_is_found(monkeypatch) -> None:
    """The log ratio stays at epsilon: only comparing questions and structures finds it."""
    count = Curator.count

    def peeking(self, regions, units, stage):
        noisy = count(self, regions, units, stage)
        if stage != "areas":
            return noisy
        return self._Curator__counts.count(regions.lower, regions.upper)

    monkeypatch.setattr(ForestCurator, "count", peeking, raising=False)
    said = []
    for seed in range(6):
        windows, rng = land(seed), np.random.default_rng(seed)
        without = drawn_atoms(windows, rng, 30)
        one, other = counted(windows, without), counted(windows, without[:-1])
        # The whole is divided with 30 records, and not with 29.
        made = Country(**PLAIN, threshold=30, consistency="drawn")
        with pytest.raises(Breach) as breach:
            Recording.of(published(made), one, Chosen(seed, "still")).replay(other)
        said.append(str(breach.value))
    assert any("question" in each or "leaves out" in each for each in said), said


@pytest.mark.planted
def test_what_is_spent_inside_and_not_charged_is_found(monkeypatch) -> None:
    """Maps get all that the path has, once more beside what the area's own count took."""
    monkeypatch.setattr(Accounts, "pay_inside", lambda *_: None)
    within = Curator.within

    def generous(self, region, counts):
        inner = within(self, region, counts)
        inner._units = region.book.limit
        return inner

    monkeypatch.setattr(Curator, "within", generous)
    assert worst(Country(**PLAIN))


@pytest.mark.planted
def test_a_draw_that_is_tried_again_is_found(monkeypatch) -> None:
    """Negative counts of areas are drawn a second time on what they have paid for once."""
    count = ForestCurator.count

    def again(self, regions, units, stage):
        noisy = count(self, regions, units, stage)
        if stage == "areas" and np.any(noisy < 0):
            paid = np.broadcast_to(units, len(regions))
            exact = self._Curator__counts.count(regions.lower, regions.upper)
            bound = self.contribution_bound
            return self._noise.laplace(exact, bound, paid.copy(), regions.keys, "again")
        return noisy

    monkeypatch.setattr(ForestCurator, "count", again)
    found = 0
    for seed in range(6):
        try:
            found += worst(Country(**PLAIN), [seed], styles=("down",))
        except Breach as breach:
            _require_planted(breach)
            found += 1
    assert found > 0


@pytest.mark.planted
def test_k_an_area_in_place_of_k_in_the_country_is_found(monkeypatch) -> None:
    """The planted bug of counting: what is kept of a user is bounded area by area."""
    areas = land(5).areas

    def loss() -> Loss:
        one, other = (areas.count(each, 250.0, 2) for each in two_users(areas))
        return Recording.of(published(Country(**PLAIN)), one, Chosen(0, "still")).replay(other)

    assert len(areas) > 3
    assert not loss().exceeds(UNITS)
    count = area_counting.count_clipped

    def by_area(points, plan, bound, progress):
        area = plan.parts(plan.atoms(points.x, points.y))[0]
        own = np.unique(np.column_stack([points.user, area]), axis=0, return_inverse=True)[1]
        return count(replace(points, user=own.ravel()), plan, bound, progress)

    monkeypatch.setattr(area_counting, "count_clipped", by_area)
    with pytest.raises(Breach, match="more than its sensitivity"):
        loss()


def _require_planted(breach: Breach) -> None:
    """Raise what a bug died of that does not fit the code any more: it was not found."""
    if isinstance(breach.__cause__, (AttributeError, TypeError, NameError, LookupError)):
        raise breach


def worst_of_some() -> bool:
    """Whether pairs of several bounds and settings show a breach; ends at the first."""
    for seed in range(12):
        for made in (Country(**PLAIN) if seed % 2 else Country(**UNCOUNTED), settings(seed)):
            try:
                if worst(made, [seed], bound=1 + seed % 3, styles=("still", "down")):
                    return True
            except Breach as breach:
                _require_planted(breach)
                return True
    return False


@pytest.mark.parametrize("name", mutants.IN_RELEASES)
@pytest.mark.planted
def test_a_bug_in_releases_is_found(name: str, monkeypatch) -> None:
    mutants.IN_RELEASES[name](monkeypatch)
    assert worst_of_some()


def two_users(areas: Areas) -> tuple[Points, Points]:
    """A user with one record, and another one beside them with one in every area."""
    x = np.concatenate([[0.0], np.arange(len(areas)) * 1000.0]) + 250.0
    user = np.concatenate([[0], np.ones(len(areas), dtype=np.int64)])
    both = Points(x, np.full(len(x), 250.0), areas.crs, user=user)
    return Points(both.x[:1], both.y[:1], areas.crs, user=user[:1]), both


@pytest.mark.planted
def test_k_a_file_in_place_of_k_in_the_country_is_found(monkeypatch, tmp_path: Path) -> None:
    areas = land(5).areas

    def in_files(points: Points, name: str) -> AreaCounts:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        frame = pd.DataFrame({"x": points.x, "y": points.y, "user": points.user})
        for part in range(2):
            frame[part::2].to_parquet(folder / f"part-{part}.parquet")
        told = {"lon": "x", "lat": "y", "crs": areas.crs, "user": "user"}
        return areas.count(folder, 250.0, 2, **told)

    def loss() -> Loss:
        one, both = two_users(areas)
        pair = in_files(one, "one"), in_files(both, "both")
        return Recording.of(published(Country(**PLAIN)), pair[0], Chosen(0, "still")).replay(
            pair[1]
        )

    assert len(areas) > 3
    assert not loss().exceeds(UNITS)
    mutants.k_a_part(monkeypatch)
    with pytest.raises(Breach, match="more than its sensitivity"):
        loss()


@pytest.mark.planted
def test_an_assignment_that_looks_at_other_records_is_found(monkeypatch) -> None:
    """Three records at sea would follow the one that comes."""
    areas = land(5).areas
    x = np.array([250.0, 250.0, 1250.0, 1250.0, -5000.0, -5000.0, -5000.0, 1250.0])
    y = np.full(len(x), 250.0)
    pair = Points(x[:-1], y[:-1], areas.crs), Points(x, y, areas.crs)

    def loss() -> Loss:
        one, other = (areas.count(each, 250.0) for each in pair)
        return Recording.of(published(Country(**PLAIN)), one, Chosen(0, "still")).replay(other)

    assert not loss().exceeds(UNITS)
    mutants.sea_to_the_fullest(monkeypatch)
    # The lattice does not hold a place at sea: an error that all can see.
    with pytest.raises((Breach, InputError)):
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
    mutants.IN_BOOKS[name](monkeypatch)
    with pytest.raises(Breach):
        loss()
