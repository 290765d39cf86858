"""Replay of releases of a country, and the bugs that it must find."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from explorer.country import mechanism
from explorer.country.audit import Case, draw_case, replay_cases
from explorer.country.mechanism import Country
from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.points.area_counts import AreaCounts
from explorer.points.points import Points
from explorer.privacy.audit.audit import front_door
from explorer.privacy.audit.cases import Seeded
from explorer.privacy.audit.loss import Breach, Loss
from explorer.privacy.audit.replay import Chosen, Recording
from explorer.releases.units import to_units
from tests.audit import country_mutants as mutants
from tests.audit.mutants import Noise
from tests.audit.planting import BROKEN, planted

pytestmark = pytest.mark.audit

EPSILON = 0.9
UNITS = to_units(EPSILON)
PLAIN = {"inside": "uniform", "budgets": "uniform", "epsilon": EPSILON}
#: Every eighth is a large one.
SMALL = [number for number in range(56) if number % 8 != 7]


@pytest.mark.parametrize("seed", range(6))
def test_a_country_costs_epsilon_whatever_its_tree(seed: int) -> None:
    """Records and users of several, of all settings."""
    found = replay_cases(SMALL[:21], 100 + seed)
    assert found.breach is None, found.breach
    assert found.pairs == 2 * 21
    assert 0.99 < found.largest <= 1 + 1e-12


@pytest.mark.parametrize("inside", ["uniform", "none"])
def test_without_noise_the_bound_is_tight(inside: str) -> None:
    """Each figure on the path that moves takes its full toll: epsilon to the unit."""
    made = Country(epsilon=EPSILON, inside=inside, budgets="uniform")
    case = case_of(1)
    loss = Recording.of(front_door(made), case.counts(), Chosen(0, "still")).replay(
        case.counts(case.changes[0])
    )
    assert abs(loss.exact) == UNITS


def case_of(seed: int) -> Case:
    """Some records in several areas, of one record a unit."""
    for number in range(100):
        case = draw_case(Seeded(f"{seed}/{number}"))
        if case.bound == 1 and len(case.atoms) > 20 and len(case.windows.areas) > 3:
            return replace(case, settings=PLAIN)
    raise AssertionError("no such case")


@pytest.mark.parametrize("name", mutants.IN_RELEASES)
@pytest.mark.planted
def test_a_bug_in_releases_is_found(name: str) -> None:
    with planted(*mutants.IN_RELEASES[name]):
        fault = replay_cases(SMALL).breach
    assert fault is not None
    assert not re.search(BROKEN, fault), "the bug itself does not run"


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
    areas: Areas = case_of(5).windows.areas
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
        return Recording.of(front_door(Country(**PLAIN)), one, Chosen(0, "still")).replay(other)

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


def paid(source: Any, book: Book) -> Noise:
    """A source that draws nothing before all that will be drawn is booked."""

    def ask(method: str) -> Any:
        def draw(*asked: Any) -> Any:
            if sum(units for units, *_ in book.rows) != UNITS:
                raise Breach("something is drawn before it is booked")
            return getattr(source, method)(*asked)

        return draw

    return Noise(source, **{name: ask(name) for name in ("laplace", "lowest", "above")})


def booked(counts: AreaCounts, noise: Any):
    """A release and what the ledger has of it."""
    book = Book()
    made = Country(**PLAIN).release(counts, rng=paid(noise, book), ledger=book)
    return made, book.rows


@pytest.mark.parametrize("name", [None, *mutants.IN_BOOKS])
def test_all_is_booked_before_anything_is_drawn(name: str | None, monkeypatch) -> None:
    """The whole price, once, and nothing about the records."""
    monkeypatch.setattr(mechanism, "is_release_grade", lambda _: True)
    case = case_of(3)
    one, other = case.counts(), case.of(case.atoms[:-1])

    def loss() -> Loss:
        return Recording.of(booked, one, Chosen(3, "still")).replay(other)

    if name is None:
        assert not loss().exceeds(UNITS)
        return
    with planted(*mutants.IN_BOOKS[name]), pytest.raises(Breach):
        loss()
