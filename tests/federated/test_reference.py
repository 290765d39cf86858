"""Errors of methods on cities against the figures of a prototype.

Port Amber is made here; what needs the files of New York, San Francisco and Foursquare is skipped
without them. Several places a person and earlier trees are on 256 x 256 cells.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from explorer.cities.catalogue import cities
from explorer.federated import rounds
from explorer.federated.asking import Asking, Protocol
from explorer.federated.mechanism import Federated
from explorer.federated.paper_bench import INTEGERS, HeatmapBench, measures
from explorer.federated.paper_maps import Map
from explorer.federated.paper_methods import MENDED, METHODS, ONCE, PRINTED
from explorer.federated.people import People
from explorer.federated.session import Session
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.joint import alone
from explorer.releases.quarters import KeyTree, interleave
from explorer.releases.tree import Tree
from explorer.releases.units import to_units

Floats = NDArray[np.float64]
THEIRS = 5
"""Runs behind a figure of the reference."""
MEASURED = 40
"""Runs of ours behind `Method.spread` and `Method.ratio`."""
FAR = 4.0
"""Standard errors of a difference: fifty differences pass them once in 300 times."""
RUNS = 2
"""Of every method on Port Amber, San Francisco and smooth maps."""
FILES = {
    "new-york": "nyc_uber2014_sample.parquet",
    "san-francisco": "sf_cabspotting_points.parquet",
}
NAMES = {"new-york": "ny", "madeup": "amber", "san-francisco": "sf"}
"""Of cities, here and in the reference."""


@dataclass(frozen=True)
class Method:
    """A method of both programs.

    Attributes
    ----------
    reference : its name there
    spread : standard deviation of one run of ours, of MSE and of L1, measured
    runs : how many are made here
    ratio : our mean error over theirs, measured; None where there is no difference to be seen
    integers : runs that send fewer are another case, see `METHODS`
    """

    reference: str
    spread: tuple[float, float]
    runs: int = 4
    ratio: tuple[float, float] | None = None
    integers: float = 0.0


#: The adaptive grid's error hangs on where the edges of its uneven cells fall: rounded down (as
#: here), up or to the nearest its MSE is 3.50, 3.50, 3.34 on New York (theirs 3.42), 4.31, 3.98,
#: 4.16 on San Francisco (3.93), 1.01, 1.01, 1.03 on Port Amber (1.02e-11), of as many cells.
#: Algorithm 2 mended ends after four rounds or after five on New York, ours in 20 of 40 runs each.
#: All five runs of the reference have five (of ours five in a row would once in 32 times), so that
#: runs with five are compared, which send 8,300 integers or more, those with four at most 5,400.
_GRID, _SKETCH = "adaptive grid, epsilon in its sizes", "count-min 4x2000, best level (oracle)"
_MENDED = "Algorithm 2 + H rule, jumps, joint inference (c .5, b 3, start 3)"
_ONCE = "asked once (H rule)"
CASES = {
    "new-york": {
        "count-min": Method(_SKETCH, (2.5e-14, 4.0e-3), 3),
        "adaptive grid, epsilon": Method(_GRID, (1.49e-13, 2.7e-3), 3, (1.0255, 1.0079)),
        PRINTED: Method("Algorithm 2, c=.1", (7.9e-15, 1.33e-3)),
        "Algorithm 2, c .3": Method("Algorithm 2, c=.3", (2.65e-13, 2.2e-3)),
        f"{ONCE}, c .5": Method(_ONCE, (9.4e-13, 5.5e-3)),
        f"{MENDED}, c .5": Method(_MENDED, (7.6e-13, 6.1e-3), 6, integers=7_000),
    },
    "madeup": {
        "adaptive grid, epsilon": Method(_GRID, (1.6e-13, 2.3e-3), RUNS),
        PRINTED: Method("Algorithm 2, c=.1", (8.8e-14, 2.8e-3), RUNS),
        "Algorithm 2, c .3": Method("Algorithm 2, c=.3", (1.3e-13, 3.4e-3), RUNS),
        f"{ONCE}, c .5": Method(_ONCE, (1.1e-13, 3.3e-3), RUNS),
        f"{MENDED}, c .5": Method(_MENDED, (1.6e-13, 4.5e-3), RUNS),
    },
    "san-francisco": {
        PRINTED: Method("Algorithm 2, c=.1", (8.1e-15, 9.3e-4), RUNS),
        f"{ONCE}, c .5": Method(_ONCE, (8.7e-12, 3.1e-2), RUNS),
        f"{MENDED}, c .5": Method(_MENDED, (1.0e-12, 9.5e-3), RUNS),
    },
}  # fmt: skip
ALL_CASES = [(city, name) for city, methods in CASES.items() for name in methods]


@pytest.fixture(scope="module")
def city(real_data: Callable[[str], Path]) -> Callable[..., FrequencyMatrix]:
    @cache
    def loaded(key: str, side: int = 1024) -> FrequencyMatrix:
        if key in FILES:
            real_data(FILES[key])
        return cities()[key].load((side, side))[1]

    return loaded


@pytest.fixture(scope="module")
def bench(city: Callable[..., FrequencyMatrix]) -> Callable[..., HeatmapBench]:
    """One bench for each city, with as many runs as are asked for."""

    @cache
    def made(key: str, runs: int) -> HeatmapBench:
        return HeatmapBench(seeds=runs, maps=[Map.of(key, city(key).counts)], methods=METHODS)

    return made


@pytest.fixture(scope="module")
def reference(reference_data: Callable[[str], Path]) -> Callable[[str], list[dict[str, Any]]]:
    def rows(name: str) -> list[dict[str, Any]]:
        path = reference_data(f"federated/{name}.json")
        return json.loads(path.read_text())["rows"]  # type: ignore[no-any-return]

    return rows


@pytest.fixture(scope="module")
def rows(reference: Callable[[str], list[dict[str, Any]]]) -> dict[tuple[str, str], Any]:
    """Table 1 by city and method, 100,000 people none of whom drops out."""
    chosen = [r for r in reference("table1") if (r["clients"], r["dropout"]) == (100_000, 0.0)]
    return {(row["city"], row["method"]): row for row in chosen}


def check_near(ours: Floats, wanted: float, spread: float, error: float) -> None:
    """Means within `FAR` standard errors of the reference, whose own error is given."""
    assert abs(ours.mean() - wanted) <= FAR * np.hypot(spread / len(ours) ** 0.5, error)


def check_alike(ran: Floats, wanted: dict[str, float], method: Method) -> None:
    for column, measure in ((0, "mse"), (1, "l1")):
        spread = method.spread[column]
        # Five runs say little of their own spread: theirs or ours, whichever is larger.
        theirs, expected = max(wanted[f"{measure}_se"], spread / THEIRS**0.5), wanted[measure]
        if method.ratio is not None:
            # Measured against the same figures of theirs, so that only ours vary.
            theirs, expected = spread / MEASURED**0.5, method.ratio[column] * wanted[measure]
        check_near(ran[:, column], expected, spread, theirs)


@pytest.mark.statistical
@pytest.mark.parametrize(("where", "name"), ALL_CASES)
def test_errors_are_those_of_the_prototype(
    where: str,
    name: str,
    bench: Callable[..., HeatmapBench],
    rows: dict[tuple[str, str], Any],
) -> None:
    method = CASES[where][name]
    ran = bench(where, method.runs).run(0, name)
    ran = ran[ran[:, INTEGERS] > method.integers]
    assert len(ran) >= 2
    check_alike(ran, rows[NAMES[where], method.reference], method)


DEPTH, PEOPLE = 8, 100_000
NOBODY_FAILS = Protocol(10_000, 0.0, 0.0)


def mapped(sums: Floats) -> Floats:
    """Values by code as rows and columns."""
    rows, cols = np.indices((256, 256))
    return sums[interleave(cols, rows)]


@dataclass(frozen=True, eq=False)
class Visitors:
    """Foursquare's users in New York: only what they did in the box, as the prototype takes them.

    `truth` is the mean of their normalised visits.
    """

    grid: Grid
    cells: NDArray[np.int64]
    visits: NDArray[np.int64]
    offsets: NDArray[np.int64]
    truth: Floats

    def people(self, places: int) -> People:
        """With S places; 0 for the most visited one alone."""
        if places:
            return People(
                self.cells, self.grid, offsets=self.offsets, visits=self.visits, places=places
            )
        pairs = zip(self.offsets[:-1], self.offsets[1:], strict=True)
        best = [begin + int(np.argmax(self.visits[begin:end])) for begin, end in pairs]
        return People(self.cells[best], self.grid)


@pytest.fixture(scope="module")
def visitors(real_data: Callable[[str], Path], city: Callable[..., FrequencyMatrix]) -> Visitors:
    frame = pd.read_parquet(real_data("foursquare_user_places.parquet"))
    grid = city("new-york", 256).grid
    found = People.from_frame(frame, grid, user="user", lon="lon", lat="lat", visits="n")
    assert found.offsets is not None
    assert found.visits is not None
    here = found.cells >= 0
    who = np.repeat(np.arange(len(found)), np.diff(found.offsets))[here]
    cells, visits = found.cells[here].astype(np.int64), found.visits[here]
    number = np.unique(who, return_inverse=True)[1]
    share = visits / np.bincount(number, visits)[number]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(number))])
    truth = mapped(np.bincount(cells, share, 4**DEPTH) / (len(offsets) - 1))
    return Visitors(grid, cells, visits, offsets, truth)


def test_the_same_users_are_in_the_box(visitors: Visitors) -> None:
    assert len(visitors.people(1)) == 3_155
    by_visits = mapped(np.bincount(visitors.cells, visitors.visits, 4**DEPTH))
    # The note has .47 between the map of users and that of visits.
    assert np.abs(by_visits / by_visits.sum() - visitors.truth).sum() == pytest.approx(
        0.47, abs=0.005
    )


#: At epsilon 4. At epsilon 1 the tree stops after one of two numbers of rounds, and eight runs of
#: theirs had one kind only: they say nothing of their own error.
PLACES = {
    0: ("top place only", 7.6e-10, 0.022),
    1: ("S=1 one visit at random", 8.2e-10, 0.026),
    4: ("S=4", 6.2e-10, 0.039),
    16: ("S=16", 7.9e-10, 0.043),
    64: ("S=64", 6.7e-10, 0.035),
}


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("places", PLACES)
def test_several_places_are_those_of_the_prototype(
    places: int, visitors: Visitors, reference: Callable[[str], list[dict[str, Any]]]
) -> None:
    arm, mse, l1 = PLACES[places]
    (wanted,) = [
        row for row in reference("multi_location")
        if (row["data"], row["eps"], row["arm"]) == ("nyc", 4.0, arm)
    ]  # fmt: skip
    people, found = visitors.people(places), []
    for seed in range(6):
        asking = Asking(people, NOBODY_FAILS, to_units(4.0), seed, "summed")
        session = Session(asking, len(people), DEPTH, (256, 256))
        heard = list(
            rounds.paper(session, KeyTree.even(DEPTH, 3), c=0.5, b=3.0, both=True, collapse=0.0,
                         closed=True, growth=rounds.GROWTH)
        )  # fmt: skip
        estimate = alone(heard[-1], (256, 256), len(people), [], "last")
        found.append(measures(visitors.truth, Tree.of(estimate).paint((256, 256)))[:2])
    ours = np.array(found)
    check_near(ours[:, 0], wanted["mse"], mse, max(wanted["se"], mse / 8**0.5))
    check_near(ours[:, 1], wanted["l1"], l1, l1 / 8**0.5)


#: Standard deviations of the MSE of one run: from nothing, on the earlier tree, on that of another
#: city. Which other city the prototype took is not written; these agree with it.
EARLIER = {
    ("ny", "new-york", "madeup"): (6.8e-11, 7.6e-11, 4.1e-11),
    ("sf", "san-francisco", "new-york"): (1.25e-11, 1.65e-11, 6.8e-10),
}


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("keys", EARLIER, ids=lambda keys: keys[0])
def test_an_earlier_tree_helps_as_in_the_prototype(
    keys: tuple[str, str, str],
    city: Callable[..., FrequencyMatrix],
    reference: Callable[[str], list[dict[str, Any]]],
) -> None:
    name, own, other = keys
    wanted = {
        row["arm"]: row for row in reference("prior_tree") if (row["city"], row["D"]) == (name, 8)
    }
    matrix = city(own, 256)
    people, truth = People.of_matrix(matrix), matrix.counts / matrix.counts.sum()
    strangers = People(People.of_matrix(city(other, 256)).cells, matrix.grid)
    ask = Federated(
        people=PEOPLE, shard=10_000, dropped=0.0, corrupt=0.0, depth=DEPTH, c=0.5, mode="summed"
    )

    def mse(**how: Any) -> Callable[[int], float]:
        return lambda seed: measures(truth, ask.release(people, rng=seed, **how).density())[0]

    found = []
    for seed in range(3):
        earlier, theirs = ask.release(people, rng=100 + seed), ask.release(strangers, rng=seed)
        arms = mse(), mse(prior=earlier), mse(prior=theirs)
        found.append([arm(200 + seed) for arm in arms])
    ours = np.array(found)
    arms_of = ("cold", "one round on the earlier tree", "one round on another city's tree")
    for column, arm, spread in zip(ours.T, arms_of, EARLIER[keys], strict=True):
        theirs = max(wanted[arm]["se"], spread / 5**0.5)
        check_near(column, wanted[arm]["mse"], spread, theirs)
    # Another city's tree is worse than none.
    assert ours[:, 2].mean() > 1.7 * ours[:, 0].mean()
