"""The audit of countries: counts of areas and the maps inside them, replayed on neighbours.

As for single maps (`privacy.audit`): the same outcomes on data sets that differ by one record, or
by a user of k records anywhere in the country, and on unrelated data. Countries are made up: a
strip of areas in a tree of uneven depth, each a map of a few cells, or on a large case of 64 to 256
a side.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.country.budgets import RULES
from explorer.country.mechanism import NO_MAPS, Country
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.windows import Windows
from explorer.mechanisms import all_mechanisms
from explorer.points.area_counts import AreaCounts
from explorer.privacy.audit.audit import Finding, front_door
from explorer.privacy.audit.cases import Seeded, one_of
from explorer.privacy.audit.loss import PER_EPSILON, Breach, budget
from explorer.privacy.audit.replay import Chosen, Recording
from explorer.privacy.audit.surface import difference, surface
from explorer.privacy.audit.ways import Told
from explorer.privacy.noise import NoiseSource, PreviewNoise

Ints = NDArray[np.int64]

NEIGHBOURS = 2
LARGE_EVERY, FILES_EVERY = 8, 20
"""Of so many cases one is large, one writes every kind of file."""
SIDES = (64, 96, 128, 256)
_CRS = "+proj=laea +lat_0=50 +lon_0=10 +datum=WGS84 +units=m +no_defs"
_LEVELS = ["country", "region", "district"]
_KILOMETRE = 1000.0
_STYLES = ("seeded", "still", "still", "up", "down", "wild")
# What is drawn most, and one after the other all that may lie inside an area.
_INSIDE = ("mosaic", "htf", NO_MAPS)


@dataclass(frozen=True)
class Case:
    """A country, its records and what one unit of privacy adds.

    Attributes
    ----------
    settings : of `Country`
    windows : the public areas
    atoms : (n, 2) area and cell of every record
    changes : records, (k, 2) each, that neighbours have in addition
    bound : most records of one unit
    style, seed : of the outcomes
    grade : whether the source represents OpenDP's own
    """

    settings: dict[str, Any]
    windows: Windows
    atoms: Ints
    changes: tuple[Ints, ...]
    bound: int
    style: str
    seed: int
    grade: bool

    def counts(self, *more: Ints) -> AreaCounts:
        """The records, and more of them."""
        atoms = np.concatenate([self.atoms, *more])
        return self.of(atoms)

    def of(self, atoms: Ints) -> AreaCounts:
        """Any records of these areas."""
        unit, number = "point" if self.bound == 1 else "user", np.ones(len(atoms), dtype=np.int64)
        return AreaCounts(self.windows, atoms[:, 0], atoms[:, 1], number, self.bound, unit)

    @property
    def source(self) -> NoiseSource:
        """Seeded noise, or outcomes of the audit's choosing."""
        return PreviewNoise(self.seed) if self.style == "seeded" else Chosen(self.seed, self.style)

    def describe(self, change: Ints) -> str:
        """A pair in one sentence."""
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return (
            f"{settings}; {len(self.atoms):,} records in {len(self.windows.areas)} areas, records "
            f"in (area, cell) {change.tolist()} more; contribution bound {self.bound}, outcomes "
            f"{self.style} {self.seed}"
        )


def draw_case(choose: Seeded, number: int = 0) -> Case:
    """A case; one of `LARGE_EVERY` has few areas of many cells and the usual settings."""
    large = number % LARGE_EVERY == LARGE_EVERY - 1
    rng = np.random.default_rng(choose.whole(0, 2**32))
    bound = one_of(choose, (1, 2, 3, 5, 8) if large else (1, 1, 2, 3))
    # The first is as large as they come.
    side = (SIDES[-1] if number < LARGE_EVERY else one_of(choose, SIDES)) if large else 4
    windows = _land(choose.whole(1, 2) if large else choose.whole(1, 3), side, rng)
    atoms = _drawn(windows, rng, 50_000 if large else choose.whole(0, 80))
    changes = tuple(_drawn(windows, rng, bound) for _ in range(NEIGHBOURS))
    settings: dict[str, Any] = {"epsilon": one_of(choose, (0.3, 0.9, 2.0))}
    if large:
        settings["inside"] = _INSIDE[number // LARGE_EVERY % len(_INSIDE)]
    else:
        settings |= _settings(choose, number)
    case = Case(
        settings, windows, atoms, changes, bound,
        one_of(choose, _STYLES), choose.whole(0, 2**40), bool(choose.whole(0, 1)),
    )  # fmt: skip
    if settings.get("threshold") is not None and choose.whole(0, 3):
        # At a count that the neighbour does not reach: of the whole as often as of what moved.
        one, other = case.counts().by_node, case.counts(changes[0]).by_node
        moved = np.flatnonzero(one != other)
        at = 0 if choose.whole(0, 1) else int(rng.choice(moved))
        settings["threshold"] = float(other[at])
    return case


def _settings(choose: Seeded, number: int) -> dict[str, Any]:
    inside = [*all_mechanisms(), NO_MAPS]
    return {
        "inside": inside[(number - number // LARGE_EVERY) % len(inside)],
        "budgets": one_of(choose, list(RULES)),
        "own_share": one_of(choose, (0.0, 0.1, 0.3, 0.5)),
        "threshold": one_of(choose, (None, float(choose.whole(0, 60)))),
        "consistency": one_of(choose, Country.param.consistency.objects),
    }


def _land(countries: int, side: int, rng: np.random.Generator) -> Windows:
    """A strip of areas of so many cells a side, some of them only children."""
    import geopandas

    upper, paths = 2 if side > 4 else 4, []
    for country in range(countries):
        for region in range(rng.integers(1, upper)):
            paths += [
                (f"c{country}", f"r{country}{region}", f"d{country}{region}{district}")
                for district in range(rng.integers(1, upper))
            ]
    shapes = [shapely.box(_KILOMETRE * i, 0, _KILOMETRE * (i + 1), 1000) for i in range(len(paths))]
    frame = geopandas.GeoDataFrame(paths, columns=_LEVELS, geometry=shapes, crs=_CRS)
    areas = Areas.read(frame, _LEVELS)
    return Windows(areas, areas.lattice(_KILOMETRE / side))


def _drawn(windows: Windows, rng: np.random.Generator, number: int) -> Ints:
    """Records anywhere: (n, 2) area and cell."""
    area = rng.integers(0, len(windows.areas), number)
    row, col, rows, cols = windows.lattice.windows[area].T
    row = row + (rng.random(number) ** 2 * rows).astype(np.int64)
    col = col + (rng.random(number) * cols).astype(np.int64)
    return np.column_stack([area, row * windows.grid.shape[1] + col]).astype(np.int64)


def replay_cases(numbers: Iterable[int], seed: int = 0) -> Finding:
    """Replay cases of countries until one fails; the same seed and number are the same case."""
    begin, finding = time.perf_counter(), Finding(Country.key)
    for number in numbers:
        case = draw_case(Seeded(f"{seed}/{Country.key}/{number}"), number)
        finding += try_case(case, number % FILES_EVERY == FILES_EVERY // 2)
        if finding.fault is not None:
            break
    return replace(finding, seconds=time.perf_counter() - begin)


def try_case(case: Case, files: bool = False) -> Finding:
    """Replay a case on all its neighbours, and on no one, and on others; with files or without."""
    units, largest, tried, strange = budget(case.settings["epsilon"]), 0.0, 0, 0
    recorder = Told(Country(**case.settings), case.grade)
    change, fault, call = case.atoms[:0], None, 0
    publish = front_door(recorder)
    try:
        # OpenDP's draws have no names: those of several stages are taken together.
        run = Recording.of(publish, case.counts(), case.source, named=not case.grade)
        call = run.longest
        if case.grade and [paid for paid, *_ in recorder.booked] != [units]:
            raise Breach(f"{recorder.booked} is booked for {units} units")
        _check_books(run.published, units)
        # What areas compute of themselves and keep is public: once it is there it stays the same.
        for _round in range(2):
            again, _ = run.again(case.counts(), neighbours=False)
            observed = surface(again, files, (*recorder.told, *recorder.booked))
        for tried, change in enumerate(case.changes, 1):  # noqa: B007  told when it fails
            loss = run.replay(case.counts(change))
            largest = max(largest, loss.epsilon * PER_EPSILON / units)
            if loss.exceeds(units):
                raise Breach(f"the loss is {largest:.6g} times epsilon")
        rng = np.random.default_rng(case.seed)
        others = _drawn(case.windows, rng, 3 * len(case.atoms) + 7)
        for stranger in (case.atoms[:0], others):
            strange += 1
            published, _ = run.again(case.of(stranger), neighbours=False)
            where = difference(
                observed, surface(published, files, (*recorder.told, *recorder.booked))
            )
            if where is not None:
                raise Breach(f"given the same outcomes, {where} differs")
    except Breach as breach:
        fault = f"{breach} ({case.describe(change)})"
    pairs, cells = max(tried, 1), int(np.prod(case.windows.lattice.windows[:, 2:], axis=1).max())
    large = pairs if cells >= SIDES[0] ** 2 else 0
    sizes = large, strange, cells, call
    return Finding(Country.key, pairs, 0.0, largest, np.zeros(0), fault, *sizes)


def _check_books(release: Any, units: int) -> None:
    """What the most expensive path spent, maps inside areas too, is the whole budget."""
    dearest = int(release.tree.path_spent.sum(axis=1).max())
    if dearest != units or release.units != units or budget(release.epsilon) != units:
        raise Breach(f"the books show {dearest} of {units} units spent on the dearest path")
