"""What grids-2013 claims of UG and AG.

The error is its mean relative error with a smallest denominator of 0.001 N, over 200 queries of
each of its six sizes, at its epsilons 0.1 and 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from explorer.evaluate.results import figure
from explorer.evaluate.workloads import AG_SIZES
from explorer.mechanisms import AG, UG, Hierarchy, KDHybrid, Mosaic, Privlet, PrivTree
from explorer.mechanisms.base import Mechanism
from explorer.papers.bench import Bench
from explorer.papers.report import Claim, claims_of
from explorer.papers.verdicts import (
    Comparison,
    Floats,
    Outcome,
    alike,
    between,
    hollow,
    lowest,
    near_best,
    smaller,
)

EPSILONS = (0.1, 1.0)
METRIC = "mreRho"
SIZES = (8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
FIRST_SIZES = (8, 12, 16, 24, 32, 48, 64, 96, 128)
QUITE_SMALL = 0.25  # our reading of "the benefit is quite small" and "about the same"
CLAIMS: list[Claim] = []
_claim = claims_of("grids-2013", CLAIMS)


def _places(bench: Bench) -> Iterator[tuple[str, float, str]]:
    """Map, epsilon, and both in words."""
    for data in bench.maps.all:
        for epsilon in EPSILONS:
            yield data, epsilon, f"{data}, epsilon {epsilon:g}"


def _errors(bench: Bench, data: str, mechanism: Mechanism, metric: str = METRIC) -> Floats:
    return bench.errors(data, mechanism, "ag", metric)


def _side(bench: Bench, data: str) -> int:
    return int(min(bench.maps.of(data).matrix.shape))


def _uniform(bench: Bench, data: str, epsilon: float, metric: str = METRIC) -> dict[int, Floats]:
    sizes = [size for size in SIZES if size <= _side(bench, data)]
    return {
        size: _errors(bench, data, UG(epsilon=epsilon, grid_size=size), metric) for size in sizes
    }


def _hybrids(epsilon: float) -> list[Mechanism]:
    """KD-hybrid both ways round and of several depths; the best one counts (erratum 21)."""
    return [
        KDHybrid(epsilon=epsilon, order=order, kd_levels=kd, quad_levels=quad)
        for order in ("quad first", "kd first")
        for quad, kd in ((3, 6), (4, 8), (5, 8))
    ]


def _best_hybrid(bench: Bench, data: str, epsilon: float, metric: str = METRIC) -> Floats:
    return lowest([_errors(bench, data, hybrid, metric) for hybrid in _hybrids(epsilon)])


@_claim("guideline-1", "IV-A, V-B, Table II")
def guideline_1(bench: Bench) -> Outcome:
    """UG's size by Guideline 1 is about the best there is."""
    cells = []
    for data, epsilon, what in _places(bench):
        errors = _uniform(bench, data, epsilon)
        best = min(errors, key=lambda size: float(errors[size].mean()))
        total = bench.maps.of(data).matrix.total
        text = f"{what}: {np.sqrt(total * epsilon / 10):.0f} suggested, {best} best"
        suggested = _errors(bench, data, UG(epsilon=epsilon))
        cells.append(near_best(text, suggested, list(errors.values())))
    return Outcome("error of UG with Guideline 1 over that with the best size", cells, sense=0)


@_claim("guideline-1-kd", "V-D, Fig. 5")
def uniform_like_hybrid(bench: Bench) -> Outcome:
    """UG of the suggested size is about as accurate as KD-hybrid."""
    cells = [
        between(
            what,
            _errors(bench, data, UG(epsilon=epsilon)),
            _best_hybrid(bench, data, epsilon),
            1 / (1 + QUITE_SMALL),
            1 + QUITE_SMALL,
        )
        for data, epsilon, what in _places(bench)
    ]
    return Outcome("error of UG over that of KD-hybrid", cells, sense=0)


@_claim("middle-sizes", "V-B, Fig. 2")
def middle_sizes(bench: Bench) -> Outcome:
    """Relative errors are largest for queries of middle size."""
    cells = []
    for data, epsilon, what in _places(bench):
        for mechanism in (UG(epsilon=epsilon), AG(epsilon=epsilon)):
            # A largest error between is a smallest inverse between.
            inverse = [1 / bench.errors(data, mechanism, size, METRIC) for size in AG_SIZES]
            cells.append(hollow(f"{what}, {mechanism.title}", range(1, 7), inverse))
    meaning = "largest error between q2 and q5 over the larger of those of q1 and q6"
    return Outcome(meaning, cells, sense=1)


@_claim("hierarchies", "V-B, Fig. 3")
def hierarchies_help_little(bench: Bench) -> Outcome:
    """Coarser grids above a uniform grid improve it, but little."""
    cells = []
    for data, epsilon, what in _places(bench):
        # 360 has many divisors; so has 240, which fits the smaller maps.
        size = 360 if _side(bench, data) >= 360 else 240
        shapes = ((2, 2), (2, 3), (2, 4), (3, 2), (4, 2), (5, 2), (6, 2))
        best = lowest(
            [
                _errors(
                    bench,
                    data,
                    Hierarchy(epsilon=epsilon, grid_size=size, branching=b, levels=d),
                )
                for b, d in shapes
            ]
        )
        alone = _errors(bench, data, UG(epsilon=epsilon, grid_size=size))
        text = f"{what}: {size} x {size}"
        cells.append(between(text, best, alone, 1 - QUITE_SMALL, 1.0))
    return Outcome("error of the best hierarchy over that of its finest grid alone", cells, sense=0)


def _privlet(bench: Bench, sides: Sequence[int]) -> Iterator[tuple[str, Floats, Floats]]:
    """Errors of Privlet and of UG on the same grids, and what they are."""
    for data, epsilon, what in _places(bench):
        for side in sides:
            if side > _side(bench, data):
                continue
            # Privlet transforms all cells that there are: a coarser grid is a coarser map.
            name = data if side == _side(bench, data) else f"{data} in {side}"
            ours = _errors(bench, name, Privlet(epsilon=epsilon))
            theirs = _errors(bench, data, UG(epsilon=epsilon, grid_size=side))
            yield f"{what}: {side} x {side}", ours, theirs


@_claim("privlet-fine", "V-B, Fig. 3")
def privlet_on_fine_grids(bench: Bench) -> Outcome:
    """Privlet on a fine grid (360 x 360 in the paper) is clearly better than UG on it."""
    cells = [smaller(*comparison) for comparison in _privlet(bench, (256, 512))]
    return Outcome("error of Privlet over that of UG on the same grid", cells)


@_claim("privlet-coarse", "V-B")
def privlet_on_coarse_grids(bench: Bench) -> Outcome:
    """Privlet on a grid of 128 x 128 or less tends to be worse than UG on it."""
    cells = [smaller(what, ug, wave) for what, wave, ug in _privlet(bench, (64, 128))]
    return Outcome("error of UG over that of Privlet on the same grid", cells)


def _adaptive(bench: Bench, data: str, epsilon: float) -> dict[int, Floats]:
    return {
        size: _errors(bench, data, AG(epsilon=epsilon, first_size=size)) for size in FIRST_SIZES
    }


@_claim("guideline-2", "V-C, Fig. 4, Table II")
def guideline_2(bench: Bench) -> Outcome:
    """AG's suggested first grid is at or close to the best."""
    cells = []
    for data, epsilon, what in _places(bench):
        errors = _adaptive(bench, data, epsilon)
        best = min(errors, key=lambda size: float(errors[size].mean()))
        total = bench.maps.of(data).matrix.total
        size = max(10, np.ceil(np.ceil(np.sqrt(total * epsilon / 10)) / 4))
        suggested = _errors(bench, data, AG(epsilon=epsilon))
        text = f"{what}: {size:.0f} suggested, {best} best"
        cells.append(near_best(text, suggested, list(errors.values())))
    return Outcome("error of AG with Guideline 2 over that with the best size", cells, sense=0)


@_claim("first-grid", "V-C, Fig. 4")
def adaptive_is_less_sensitive(bench: Bench) -> Outcome:
    """AG depends less on its first grid than UG on its grid."""
    cells = []
    for data, epsilon, what in _places(bench):
        spreads = []
        for errors, suggested in (
            (_adaptive(bench, data, epsilon), _suggested(bench, data, epsilon) / 4),
            (_uniform(bench, data, epsilon), _suggested(bench, data, epsilon)),
        ):
            near = [error for size, error in errors.items() if 0.25 <= size / suggested <= 4]
            worst = max(near, key=lambda sample: float(sample.mean()))
            spreads.append(worst / lowest(near).mean())
        cells.append(smaller(what, *spreads))
    meaning = "worst over best error of AG, sizes up to 4 times off, over the same of UG"
    return Outcome(meaning, cells)


def _suggested(bench: Bench, data: str, epsilon: float) -> float:
    return float(np.sqrt(bench.maps.of(data).matrix.total * epsilon / 10))


def _with(bench: Bench, data: str, epsilon: float, **settings: float) -> Floats:
    return _errors(bench, data, AG(epsilon=epsilon, **settings))


@_claim("alpha", "IV-B, V-C, Fig. 4")
def alpha_is_flat(bench: Bench) -> Outcome:
    """Alpha from 0.2 to 0.6 is almost the same."""
    cells = _flat(bench, "alpha", (0.2, 0.3, 0.4, 0.5, 0.6))
    return Outcome("worst over best error for alpha from 0.2 to 0.6", cells, sense=0)


def _flat(bench: Bench, name: str, values: Sequence[float]) -> list[Comparison]:
    cells = []
    for data, epsilon, what in _places(bench):
        errors = [_with(bench, data, epsilon, **{name: value}) for value in values]
        best = values[int(np.argmin([error.mean() for error in errors]))]
        cells.append(alike(f"{what}: best at {best:g}", errors))
    return cells


@_claim("alpha-75", "V-C, Fig. 4")
def large_alpha_hurts(bench: Bench) -> Outcome:
    """Alpha of 0.75 is worse than 0.5."""
    cells = [
        smaller(what, *(_with(bench, data, eps, alpha=a) for a in (0.5, 0.75)))
        for data, eps, what in _places(bench)
    ]
    return Outcome("error with alpha 0.5 over that with 0.75", cells)


@_claim("c2", "V-C")
def c2_is_flat(bench: Bench) -> Outcome:
    """c2 from 3 to 7 is almost the same."""
    cells = _flat(bench, "c2", (3, 4, 5, 6, 7))
    return Outcome("worst over best error for c2 from 3 to 7", cells, sense=0)


@_claim("c2-large", "V-C, Fig. 4")
def large_c2_hurts(bench: Bench) -> Outcome:
    """c2 of 5 is significantly better than 10 and 15."""
    cells = [
        smaller(f"{what}: 5 against {c}", *(_with(bench, data, eps, c2=c2) for c2 in (5, c)))
        for data, eps, what in _places(bench)
        for c in (10, 15)
    ]
    return Outcome("error with c2 = 5 over that with 10 or 15", cells)


@_claim("ag-relative", "V-D, Fig. 5")
def adaptive_wins(bench: Bench) -> Outcome:
    """AG of the suggested size is more accurate than UG, Privlet and KD-hybrid, by relative
    error.
    """
    return _wins(bench, METRIC)


@_claim("ag-absolute", "V-D, Fig. 6")
def adaptive_wins_absolutely(bench: Bench) -> Outcome:
    """The same by absolute error."""
    return _wins(bench, "mae")


def _wins(bench: Bench, metric: str) -> Outcome:
    cells, newer = [], []
    for data, epsilon, what in _places(bench):
        ours = _errors(bench, data, AG(epsilon=epsilon), metric)
        others = {
            "UG of the best size": lowest(list(_uniform(bench, data, epsilon, metric).values())),
            "KD-hybrid": _best_hybrid(bench, data, epsilon, metric),
            "Privlet": _errors(bench, data, Privlet(epsilon=epsilon), metric),
        }
        cells += [smaller(f"{what}: {name}", ours, other) for name, other in others.items()]
        newer += [
            smaller(rival.title, ours, _errors(bench, data, rival, metric))
            for rival in (PrivTree(epsilon=epsilon), Mosaic(epsilon=epsilon))
        ]
    later = Outcome("", newer).value
    aside = f"Against PrivTree and Mosaic, which are newer than the paper, it is {figure(later)}."
    return Outcome("error of AG over that of the other", cells, aside)
