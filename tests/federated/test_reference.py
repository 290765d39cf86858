"""Errors of methods on cities against the figures of a prototype, and against our target.

Port Amber is made here; what needs the files of New York, San Francisco and Foursquare is skipped
without them. Several places a person, shares of yes and earlier trees are on 256 x 256 cells.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
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
from explorer.federated.calibration import sigma
from explorer.federated.mechanism import Federated
from explorer.federated.paper_bench import INTEGERS, HeatmapBench, measures
from explorer.federated.paper_maps import BLURS, Map, smoothed
from explorer.federated.paper_methods import MENDED, METHODS, ONCE, PRINTED, Plan, of_plan
from explorer.federated.people import People
from explorer.federated.proportion import enough, fieller
from explorer.federated.session import Session, figures
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.joint import alone
from explorer.releases.quarters import KeyTree, interleave, separate
from explorer.releases.rounds import Heard
from explorer.releases.tree import Tree
from explorer.releases.units import to_epsilon, to_units

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


def variant(start: int = 1, **settings: Any) -> Plan:
    """A row of Table 3 as the prototype has it."""
    return of_plan(never_giving_up, start, joined=False, **settings)


def never_giving_up(
    server: rounds.Server,
    tree: KeyTree,
    *,
    c: float,
    threshold: float | None = None,
    times: int | None = None,
    both: bool = False,
) -> Iterator[Heard]:
    """Algorithm 2 without its collapse: all the prototype's variants but those that say so.

    With it (`rounds.paper`) trees of fixed epsilon have 84,000 cells in place of 128,000 and an MSE
    that is 29 % larger, those of a schedule 6 % fewer cells and the same error.
    """

    def decide(heard: Heard, remaining: int) -> tuple[KeyTree, Heard]:
        next_sd = sigma(to_epsilon(remaining)) * rounds.several(server)
        t = 2 * (math.hypot(heard.noise, next_sd) if both else next_sd)
        t = t if threshold is None else threshold
        nobody = np.zeros(heard.cells, dtype=bool)
        return rounds.divided(heard, (heard.sums > t).astype(np.int64), nobody)

    return rounds.scheduled(server, tree, c, 2.0, decide, times, 0.0)


#: Name in the reference, plan, spread of MSE and of L1.
ABLATION: dict[str, tuple[Plan, tuple[float, float]]] = {
    "no noise, T=10": (METHODS["no noise, T 10"], (7.2e-14, 1.4e-3)),
    "fixed eps/10, T=10": (variant(c=0.1, threshold=10.0, times=10), (3.4e-13, 6.5e-3)),
    "fixed eps/10, T=2 sd of the round": (
        variant(c=0.1, threshold=2 * sigma(0.1) * math.sqrt(10), times=10), (2.0e-12, 8.0e-3)
    ),
    "scheduled c=.1, fixed T=10": (variant(c=0.1, threshold=10.0), (5.8e-15, 1.4e-3)),
    "scheduled c=.1, T adaptive (rem)": (variant(c=0.1), (5.7e-15, 1.3e-3)),
    "scheduled c=.3, T adaptive (rem)": (variant(c=0.3), (1.4e-13, 2.7e-3)),
    "scheduled c=.3, T both sigmas": (variant(c=0.3, both=True), (6.3e-13, 3.9e-3)),
    "scheduled c=.3, T both sigmas, collapse T/4": (
        METHODS["scheduled c .3, both sigmas"], (4.4e-13, 5.1e-3)
    ),
    "scheduled c=.5 b=3 start 3 both, collapse 0, closed": (
        METHODS["c .5, b 3, both, closed"], (2.3e-12, 1.1e-2)
    ),
}  # fmt: skip

OURS: dict[str, Plan] = {
    f"{ONCE}, c .5": of_plan(rounds.once, once=True, c=0.5),
    f"{ONCE}, c .6": of_plan(rounds.once, once=True, c=0.6),
}
#: Geometric mean of the MSE over that of Algorithm 2 with c .1, and the standard deviation of its
#: logarithm from seed to seed, over 12 seeds: on Port Amber, on three cities, on smooth maps.
#: At most .33 is wanted on three cities and 1.15 on smooth maps. With c .6 both hold, .328(2) and
#: 1.046(16); with c .5 the cities miss theirs, .349(2) and .978(8). Algorithm 2 mended: .325(1) and
#: 1.109(29) with c .6, .345(2) and 1.013(21) with c .5. (`dp-explorer papers heatmaps` has them.)
TARGET = {
    ("madeup", f"{ONCE}, c .5"): (0.5445, 0.0111),
    ("madeup", f"{ONCE}, c .6"): (0.5271, 0.0162),
    ("cities", f"{ONCE}, c .6"): (0.3279, 0.0190),
    ("smooth", f"{ONCE}, c .6"): (1.0455, 0.0517),
}
TARGET_RUNS = 12
LIMITS = {"cities": 0.33, "smooth": 1.15}


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
    """One bench for each city and for its smooth maps, with as many runs as are asked for."""

    @cache
    def maps(key: str, smooth: bool) -> list[Map]:
        counts = city(key).counts
        if smooth:
            return [Map.of(key, smoothed(counts, blur), True) for blur in BLURS]
        return [Map.of(key, counts)]

    @cache
    def made(key: str, runs: int = RUNS, smooth: bool = False) -> HeatmapBench:
        plans = {**METHODS, **OURS, **{name: plan for name, (plan, _) in ABLATION.items()}}
        return HeatmapBench(seeds=runs, maps=maps(key, smooth), methods=plans)

    return made


@pytest.fixture(scope="module")
def reference(reference_data: Callable[[str], Path]) -> Callable[[str], list[dict[str, Any]]]:
    def rows(name: str) -> list[dict[str, Any]]:
        path = reference_data(f"federated/{name}.json")
        return json.loads(path.read_text())["rows"]  # type: ignore[no-any-return]

    return rows


@pytest.fixture(scope="module")
def rows(reference: Callable[[str], list[dict[str, Any]]]) -> dict[tuple[str, str], Any]:
    """Table 1 and the ablation, by city and method, 100,000 people none of whom drops out."""
    chosen = [r for r in reference("table1") if (r["clients"], r["dropout"]) == (100_000, 0.0)]
    known = {(row["city"], row["method"]): row for row in chosen}
    return known | {(row["city"], row["variant"]): row for row in reference("ablation")}


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


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("name", ABLATION)
def test_variants_are_those_of_the_prototype(
    name: str, bench: Callable[..., HeatmapBench], rows: dict[tuple[str, str], dict[str, float]]
) -> None:
    check_alike(bench("new-york").run(0, name), rows["ny", name], Method(name, ABLATION[name][1]))


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(("where", "name"), TARGET)
def test_the_error_of_algorithm_2_is_divided_as_measured(
    where: str, name: str, bench: Callable[..., HeatmapBench]
) -> None:
    keys = {"madeup": ["madeup"], "cities": list(NAMES), "smooth": ["san-francisco"]}[where]
    smooth, logs = where == "smooth", []
    for own in [bench(key, RUNS, smooth) for key in keys]:
        for setting in own.settings(smooth):
            ours, theirs = (own.made(each, setting)[:, 0].mean() for each in (name, PRINTED))
            logs.append(math.log(ours / theirs))
    assert len(logs) == {"madeup": 5, "cities": 14, "smooth": 4}[where]
    measured, spread = TARGET[where, name]
    found, error = float(np.mean(logs)), spread * math.sqrt(1 / RUNS + 1 / TARGET_RUNS)
    assert abs(found - math.log(measured)) <= FAR * error
    if where in LIMITS:
        # What is wanted, as far as so few runs can tell.
        assert found <= math.log(LIMITS[where]) + FAR * spread / math.sqrt(RUNS)


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


class Halves(Session):
    """Yes and no together, as a plan sees them; apart for the intervals."""

    halves: tuple[Floats, Floats]

    def ask(self, tree: KeyTree, people: int, units: int, fresh: bool) -> Heard:
        sums = self.sums(self.question(tree), people, units, fresh)
        self.halves = sums.values[: tree.v].astype(float), sums.values[tree.v :].astype(float)
        return Heard(**figures(sums, tree.v), tree=tree, sums=sum(self.halves))


def refined(people: People, width: float, seed: int) -> tuple[KeyTree, Floats, Floats]:
    """As the prototype refines: from 64 cells, giving up for good those of 0 people or fewer.

    `proportion` gives nothing up and begins with 4 cells. It ends with half as many cells again
    (236, 761 and 1,695 at half widths of .05, .1 and .2), most of them of next to nobody, which
    makes the mean half width larger (.10, .18 and .28); weighted by people it is .039, .082 and
    .16 against the prototype's .035, .072 and .16, and both cover what they say.
    """
    asking = Asking(people, NOBODY_FAILS, to_units(1.0), seed, "summed")
    session, shut = Halves(asking, PEOPLE, DEPTH, (256, 256)), np.zeros(0, dtype=np.int64)

    def decide(heard: Heard, remaining: int) -> tuple[KeyTree, Heard]:
        nonlocal shut
        noise = rounds.sigma(to_epsilon(remaining)) * rounds.several(session)
        down = (heard.sums / 4 >= enough(width, noise)).astype(np.int64)
        finer, heard = rounds.divided(heard, down, heard.sums <= 0, shut)
        shut = np.union1d(shut, heard.collapsed)
        return finer, heard

    first = KeyTree.even(DEPTH, 3)
    heard = list(rounds.scheduled(session, first, 0.5, 3.0, decide, growth=rounds.GROWTH))
    low, high = fieller(*session.halves, heard[-1].noise)
    return heard[-1].tree, low, high


#: Of cells, mean half width, the same weighted by people, and coverage. Not at .2: all runs of the
#: prototype ask seven times there, ours seven or eight times.
SHARES = {0.05: (15.7, 3.8e-3, 1.9e-3, 0.013), 0.1: (34.0, 2.9e-3, 1.8e-3, 0.009)}


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("width", SHARES)
def test_shares_of_yes_are_those_of_the_prototype(
    width: float,
    city: Callable[..., FrequencyMatrix],
    reference: Callable[[str], list[dict[str, Any]]],
) -> None:
    (wanted,) = [
        row for row in reference("proportion")
        if (row["city"], row["how"], row["w"]) == ("ny", "width", width)
    ]  # fmt: skip
    everybody = People.of_matrix(city("new-york", 256))
    column, row = separate(everybody.cells.astype(np.int64))
    apart = (column - 127.5) ** 2 + (row - 127.5) ** 2
    yes = np.random.default_rng(1).random(len(everybody)) < 0.02 + 0.4 * np.exp(-apart / 3_200)
    people, found = everybody.proportion(yes), []
    counts = [np.bincount(everybody.cells, each, 4**DEPTH) for each in (yes, np.ones(len(yes)))]
    for seed in range(6):
        tree, low, high = refined(people, width, seed)
        owner = tree.index(np.arange(4**DEPTH))
        says, all_of_them = (np.bincount(owner, each, tree.v) for each in counts)
        truth, half = says / np.maximum(all_of_them, 1), (high - low) / 2
        covered = ((low <= truth) & (truth <= high))[all_of_them > 0].mean()
        found.append([tree.v, half.mean(), np.average(half, weights=all_of_them), covered])
    ours, names = np.array(found), ("v", "half_mean", "half_weighted", "cover_fieller")
    for column_of, name, spread in zip(ours.T, names, SHARES[width], strict=True):
        check_near(column_of, wanted[name], spread, spread / 10**0.5)


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
