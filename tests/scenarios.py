"""Scenarios by chance, for tests: any that can be written, and some that can be run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import param
from hypothesis import strategies as st

from explorer.mechanisms import all_mechanisms, trip_mechanisms
from explorer.scenario import (
    BOUNDS,
    CELLS,
    GRID_SIDES,
    MAX_SEED,
    TRIP_SIDES,
    AreaLooks,
    Looks,
    PeopleLooks,
    Scenario,
    Sweep,
    TripLooks,
)
from explorer.scenario.choices import LOWEST
from explorer.scenario.kinds import PEOPLE
from explorer.scenario.parts import Part, mechanism

KEYS = list(all_mechanisms())


@st.composite
def choices(
    draw: Any, keys: Sequence[str] = KEYS, besides: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """A mechanism with any of its settings but those named in ``besides``."""
    key = draw(st.sampled_from(keys))
    made = mechanism(key)
    known = [name for name in made.tunables() if name not in besides]
    names = draw(st.lists(st.sampled_from(known), unique=True)) if known else []
    return {key: {name: draw(_values(made.param[name])) for name in names}}


def _values(declared: param.Parameter) -> st.SearchStrategy[Any]:
    if isinstance(declared, param.Selector):
        return st.sampled_from(declared.objects)
    low, high = declared.bounds
    if isinstance(declared, param.Integer):
        numbers: st.SearchStrategy[Any] = st.integers(low, high)
    else:
        numbers = st.floats(low, high)
    return numbers | st.none() if declared.allow_None else numbers


@st.composite
def boxes(draw: Any) -> dict[str, Any]:
    """A box with a name, in metres of any grid."""
    far = st.floats(-1e7, 1e7)
    x0, y0 = draw(far), draw(far)
    width, height = (draw(st.floats(0.01, 1e6)) for _ in range(2))
    return {"name": draw(_lines(40)), "edges": [x0, y0, x0 + width, y0 + height]}


def _lines(longest: int) -> st.SearchStrategy[str]:
    return st.text(max_size=longest).filter(str.isprintable)


@st.composite
def parts(draw: Any, part: type[Part]) -> dict[str, Any]:
    """Looks, or a sweep, with any of its fields."""
    return {
        name: draw(st.sampled_from(list(declared.objects)))
        for name, declared in part.declared.items()
        if isinstance(declared, param.Selector) and draw(_BOOL)
    }


_BOOL = st.booleans()
_NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


def _common(draw: Any, edges: st.SearchStrategy[Any], kind: type[Part]) -> dict[str, Any]:
    """What scenarios of every page have."""
    return {
        "city": draw(_lines(20).filter(str.strip)),
        "seed": draw(st.none() | st.integers(0, MAX_SEED)),
        "boxes": draw(st.none() | st.lists(edges, max_size=5)),
        "look": draw(parts(kind)),
        "title": draw(_lines(80)),
        "about": draw(_lines(80)),
    }


@st.composite
def scenarios(draw: Any) -> Scenario:
    """Any scenario of Explore, Compare or Learn."""
    page = draw(st.sampled_from(("explore", "compare", "learn")))
    n = {"explore": 1, "compare": 2, "learn": draw(st.integers(1, 2))}[page]
    return Scenario(
        page=page,
        lesson=draw(_lines(20)) if page == "learn" else "",
        side=draw(st.sampled_from(GRID_SIDES)),
        contribution_bound=draw(st.sampled_from(BOUNDS)),
        mechanisms=tuple(draw(choices()) for _ in range(n)),
        epsilon=draw(st.floats(1e-6, 10)),
        sweep=draw(parts(Sweep)),
        **_common(draw, boxes(), Looks),
    )


@st.composite
def trip_scenarios(draw: Any) -> Scenario:
    """Any scenario of trips."""
    places = draw(st.sampled_from(("o,d", "d,o", "o,s1,d", "s12,s2", "d,s3,o")))
    return Scenario(
        page="trips",
        places=places,
        side=draw(st.sampled_from(TRIP_SIDES)),
        contribution_bound=draw(st.sampled_from(BOUNDS)),
        mechanisms=(draw(choices(list(trip_mechanisms()))),),
        epsilon=draw(st.floats(1e-6, 10)),
        **_common(draw, rows(len(places.split(","))), TripLooks),
    )


@st.composite
def area_scenarios(draw: Any) -> Scenario:
    """Any scenario of a country."""
    ((key, settings),) = draw(choices(KEYS) | st.just({"none": {}})).items()
    made: dict[str, Any] = {"inside": key, "inside_settings": settings}
    for name in ("budgets", "own_share", "threshold", "consistency"):
        if draw(_BOOL):
            made[name] = draw(_values(mechanism("country").param[name]))
    common = _common(draw, boxes(), AreaLooks)
    common["look"] |= {
        "level": draw(st.integers(0, LOWEST)),
        "area": draw(st.none() | st.lists(_NAMES, max_size=4)),
        "partition": draw(_BOOL),
    }
    return Scenario(
        page="country",
        side=draw(st.sampled_from(CELLS)),
        contribution_bound=draw(st.sampled_from(BOUNDS)),
        mechanisms=({"country": made},),
        # Poorer maps inside are refused.
        epsilon=draw(st.floats(0.01, 10)),
        **common,
    )


@st.composite
def people_scenarios(draw: Any) -> Scenario:
    """Any scenario of people who keep their places."""
    common = _common(draw, boxes(), PeopleLooks)
    common["look"] |= {"partition": draw(_BOOL), "grey": draw(_BOOL)}
    return Scenario(
        page="federated",
        side=draw(st.sampled_from(GRID_SIDES)),
        contribution_bound=draw(st.sampled_from(PEOPLE.options("bound"))),
        mechanisms=(draw(choices(list(PEOPLE.known()), PEOPLE.unsaid)),),
        epsilon=draw(st.floats(1e-6, 10)),
        **common,
    )


@st.composite
def rows(draw: Any, count: int) -> dict[str, Any]:
    """A row of ``count`` places, a box or anywhere for each of them, one box at least."""
    edges = boxes().map(lambda box: box["edges"])
    found = [draw(edges | st.just("anywhere")) for _ in range(count)]
    found[draw(st.integers(0, count - 1))] = draw(edges)
    return {"name": draw(_lines(40)), "edges": found}


def runnable(rng: np.random.Generator, page: str, *keys: str) -> Scenario:
    """A scenario on a small grid of the made-up city, with mechanisms ``keys``."""
    corners = rng.uniform(-10_000, 9_000, (3, 2))
    sides = rng.uniform(50, 9_000, (3, 2))
    edges = np.hstack([corners, np.minimum(corners + sides, 10_000)])
    return Scenario(
        page=page,
        side=256,
        mechanisms=tuple({key: _settings(rng, key)} for key in keys),
        epsilon=float(f"{10 ** rng.uniform(-1.5, 0.5):.3g}"),
        seed=int(rng.integers(MAX_SEED)),
        boxes=tuple(
            {"name": name, "edges": row.tolist()}
            for name, row in zip(("Q1", 'The "old" town', "back\\slash"), edges, strict=True)
        ),
        look={
            name: str(rng.choice(list(declared.objects)))
            for name, declared in Looks.declared.items()
            if isinstance(declared, param.Selector)
        },
    )


def _settings(rng: np.random.Generator, key: str) -> dict[str, Any]:
    """Some settings of a mechanism, within what a slider reaches."""
    made = mechanism(key)
    found: dict[str, Any] = {}
    for name in made.tunables():
        declared = made.param[name]
        if rng.random() < 0.5:
            continue
        if isinstance(declared, param.Selector):
            found[name] = str(rng.choice(declared.objects))
            continue
        low, high = declared.get_soft_bounds()
        if name == "height":
            high = min(high, 8)
        if isinstance(declared, param.Integer):
            found[name] = int(rng.integers(low, min(high, 64) + 1))
        else:
            found[name] = float(f"{rng.uniform(low, high):.4g}")
    return found
