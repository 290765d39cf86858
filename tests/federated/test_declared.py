"""How many people take part: declared by a person, or published by consent, and refused else."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.federated.asking import Protocol
from explorer.federated.audit import ALGORITHMS
from explorer.federated.mechanism import Federated
from explorer.federated.people import MOST_DECLARED, People
from explorer.federated.proportion import proportion
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.ledger import Ledger
from explorer.releases.distributed import DistributedRelease
from explorer.releases.release import Release

FEW = {"shard": 40, "dropped": 0.0, "corrupt": 0.0}
BOTH_WAYS = "declare a number.*people=N.*exact number.*people_are_public=True"


def matrix_of(number: int) -> FrequencyMatrix:
    """So many records about one cell of 8 x 8."""
    counts = np.zeros((8, 8), dtype=np.int64)
    counts[2, 3] = number
    return FrequencyMatrix.from_array(counts)


def people_of(number: int) -> People:
    """So many people of two visits each."""
    cells = np.tile([9, 12], number)
    return People(cells, Grid.cells(8), offsets=np.arange(0, 2 * number + 1, 2), places=2)


def public_figures(release: DistributedRelease) -> dict[str, Any]:
    """What a release says of people and rounds before any sum is looked at."""
    row = release.heard[0]
    figures = (row.people, row.answered, row.shards, row.refused, row.noise, row.bits, row.bytes_up)
    return {
        "population": release.population,
        "asked": release.facts["asked"],
        "first round": figures,
        "neighbours": release.neighbours,
        "public": release.people_are_public,
    }


@pytest.mark.parametrize("algorithm", sorted(set(ALGORITHMS)))
def test_a_declared_number_is_all_that_a_release_says_of_how_many_there_are(
    algorithm: str, tmp_path: Path
) -> None:
    made = Federated(epsilon=4, algorithm=algorithm, people=130, depth=3, **FEW)
    seen = []
    for records in (matrix_of(0), matrix_of(20), matrix_of(21), people_of(130)):
        release = made.release(records)
        release.save(tmp_path / "f.parquet")
        again = Release.load(tmp_path / "f.parquet")
        assert isinstance(again, DistributedRelease)
        assert public_figures(again) == public_figures(release)
        assert again.replay(len(again.heard)).neighbours == release.neighbours
        if again.refined:
            assert again.replay(1).neighbours == release.neighbours
        seen.append(public_figures(release))
    # Of people with two places sums are twice as large, so that they take a bit more.
    for figures in seen[1:3]:
        assert figures == seen[0]
    for figures in seen:
        assert (figures["population"], figures["first round"][0]) == (130, 130)
        assert "130 people are declared" in figures["neighbours"]


@pytest.mark.parametrize("made", [Federated(), Federated(people=None), Federated(epsilon=0.5)])
@pytest.mark.parametrize("public", [None, False])
def test_a_number_that_is_neither_declared_nor_public_is_refused(
    made: Federated, public: bool | None, tmp_path: Path
) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    for records in (matrix_of(500), people_of(500)):
        with pytest.raises(InputError, match=BOTH_WAYS):
            made.release(records, ledger=ledger, people_are_public=public)
        assert ledger.spent(records.key) == 0


def test_more_people_than_declared_are_refused_and_not_counted_for_anybody(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    said = set()
    for number in (501, 502, 4_321):
        for records in (matrix_of(number), people_of(number)):
            with pytest.raises(InputError, match=BOTH_WAYS) as refused:
                Federated(people=500).release(records, ledger=ledger)
            assert ledger.spent(records.key) == 0
            said.add(str(refused.value))
    assert len(said) == 1
    with pytest.raises(InputError, match="declare 100,000,000 at most"):
        Federated(people=MOST_DECLARED + 1).release(matrix_of(3))


def test_who_consents_publishes_the_exact_number(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    records = matrix_of(500)
    for people, asked in ((None, 500), (200, 200), (900, 500)):
        made = Federated(people=people, **FEW)
        release = made.release(records, ledger=ledger, people_are_public=True)
        assert release.people_are_public
        assert (release.population, release.heard[0].people) == (500, asked)
        assert "is public" in release.neighbours
        assert release.neighbours in release.summary()
    assert all("is public" in row.what for row in ledger.rows(records.key))
    Federated(people=900, **FEW).release(records, ledger=ledger)
    assert "900 people are declared" in ledger.rows(records.key)[-1].what


def test_a_default_or_a_copy_declares_nothing() -> None:
    assert Federated().declared is None
    assert Federated().with_(shard=50).declared is None
    assert Federated(people=7).declared == 7
    assert Federated(people=7).with_(shard=50).declared == 7
    assert Federated().with_(people=100_000).declared == 100_000
    release = Federated(people=600, **FEW).release(matrix_of(500))
    assert Federated.of(release).declared == 600
    public = Federated(people=600, **FEW).release(matrix_of(500), people_are_public=True)
    assert Federated.of(public).declared is None


def test_a_preview_has_the_exact_number_unless_it_is_asked_for_the_declared_one() -> None:
    made = Federated(people=600, **FEW)
    usual = made.release(matrix_of(500), rng=1)
    assert usual.population == 500
    assert np.array_equal(
        usual.density(), made.release(matrix_of(500), rng=1, people_are_public=True).density()
    )
    asked = made.release(matrix_of(500), rng=1, people_are_public=False)
    assert (asked.population, asked.preview, asked.people_are_public) == (600, True, False)
    with pytest.raises(InputError, match="people_are_public is 'yes'"):
        made.release(matrix_of(500), people_are_public="yes")  # type: ignore[arg-type]


def test_shares_of_yes_follow_the_same_rule(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    protocol = Protocol(200, 0.0, 0.0)
    asked = []
    for number in (200, 201):
        people = People(np.arange(number) % 64, Grid.cells(8))
        people = people.proportion(np.arange(number) % 3 == 0)
        with pytest.raises(InputError, match=BOTH_WAYS):
            proportion(people, protocol=protocol, ledger=ledger)
        with pytest.raises(InputError, match="more people than the 199 declared"):
            proportion(people, number=199, protocol=protocol, ledger=ledger)
        assert ledger.spent(people.key) == 0
        found = proportion(people, number=600, protocol=protocol, ledger=ledger)
        assert found.declared == 600
        asked.append([(row.people, row.answered, row.shards) for row in found.heard])
        assert "600 people are declared" in ledger.rows(people.key)[-1].what
        public = proportion(people, protocol=protocol, people_are_public=True)
        assert public.heard[0].people == number
        assert "is public" in public.neighbours
    assert asked[0][0] == asked[1][0] == (600, 600, 3)


def test_those_who_are_padded_have_no_place_and_the_same_key() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for people in (People(np.array([3, 1]), Grid.cells(2)), people_of(2)):
            more = people.proportion(np.array([True, False])).padded(5)
            assert (len(more), more.key) == (5, people.key)
            words = np.zeros(3, dtype=np.uint64)
            position, _, _ = more.entries(np.array([2, 3, 4]), lambda cells: cells, 64, words)
            assert len(position) == 0
            assert len(people.padded(2)) == 2
