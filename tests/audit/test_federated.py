"""Replay of federated maps through their front door, and the bugs that it must find.

Neighbours are the same people, the vector of one of them being zero.
"""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from explorer.federated import shards
from explorer.federated.audit import (
    ALGORITHMS,
    OPTIONS,
    Case,
    Recorder,
    Weather,
    decided,
    draw_case,
    published,
    replay_cases,
    try_case,
)
from explorer.federated.mechanism import ALGORITHMS as ALL
from explorer.federated.mechanism import Federated
from explorer.federated.people import People
from explorer.grid.grid import Grid
from explorer.privacy.audit import distributions
from explorer.privacy.audit.cases import NEIGHBOURS, Seeded
from explorer.privacy.audit.loss import Breach
from explorer.privacy.audit.surface import difference
from tests.audit.federated_mutants import OTHERS, SEEN, TABLE, Mutant
from tests.audit.planting import planted
from tests.federated.towns import some_people

pytestmark = pytest.mark.audit


@pytest.mark.parametrize("algorithm", sorted(set(ALGORITHMS)))
def test_no_breach_and_the_bound_is_reached(algorithm: str) -> None:
    cases = 8 if algorithm in OPTIONS else 4
    found = replay_cases(range(cases), 7, [algorithm])
    assert found.breach is None, found.breach
    assert found.pairs == cases * NEIGHBOURS
    assert 0.99 < found.largest <= 1 + 1e-9


@pytest.mark.parametrize("mutant", [*TABLE, *OTHERS], ids=lambda mutant: mutant.name)
@pytest.mark.planted
def test_every_planted_bug_is_found(mutant: Mutant) -> None:
    SEEN.clear()
    with planted(*mutant.plants):
        found = replay_cases(range(mutant.cases), 1, mutant.algorithms)
    assert found.breach is not None, f"not found in {mutant.cases * NEIGHBOURS} pairs"
    assert re.search(mutant.says, found.breach), found.breach


def test_a_sample_without_noise_is_no_private_map() -> None:
    """The one algorithm that claims nothing is told from the others."""
    assert set(ALL) - set(ALGORITHMS) == {"sampling"}
    assert "published" in str(replay_cases(range(5), 1, ["sampling"]).breach)


def test_cases_reach_what_they_should() -> None:
    """Several places, refused shards, dropouts, several rounds, options and earlier trees."""
    cases = [draw_case(Seeded(f"reach/{number}"), decided) for number in range(40)]
    for each in ("dropped", "corrupt"):
        assert len({case.settings[each] for case in cases}) > 2
    assert any(case.people.places > 1 for case in cases)
    assert any(case.prior is not None for case in cases)
    assert any(case.options for case in cases)
    rounds, refused = [], 0
    for case in cases:
        recorder = Recorder(case.style)
        made, *_ = published(case, case.people, recorder)
        refused += sum(shard.exact is None for shard in recorder.shards)
        if made is not None and case.settings["algorithm"] == "people":
            rounds.append(len(made.heard))
    assert refused > 0
    assert max(rounds) >= 2


def test_a_case_can_be_built_again_and_files_are_compared() -> None:
    case, again = (draw_case(Seeded("again"), decided, ["mended"]) for _ in range(2))
    assert case.describe(3) == again.describe(3)
    case, again = (dataclasses.replace(each, storm=1.0) for each in (case, again))
    one, other = (published(each, each.people, Recorder("fair"), True) for each in (case, again))
    assert difference(one[1:], other[1:]) is None
    assert len(one[3]["files"]["map.parquet"]) > 1000
    assert try_case(case, saved=True).breach is None


def test_a_storm_lets_more_people_drop_out() -> None:
    calm, storm = (np.mean(Weather(1, part).random(10_000) < 0.1) for part in (1.0, 0.25))
    # 4 standard deviations of 10,000 draws.
    assert calm == pytest.approx(0.1, abs=0.012)
    assert storm == pytest.approx(0.4, abs=0.02)


def settings(algorithm: str) -> dict[str, object]:
    return {
        "epsilon": 1.0, "algorithm": algorithm, "shard": 60, "dropped": 0.1, "corrupt": 0.0,
        "people": None,
    }  # fmt: skip


@pytest.mark.parametrize("algorithm", sorted(set(ALGORITHMS) - {"count-min"}))
def test_all_shards_refused_is_said_and_is_no_map(algorithm: str) -> None:
    """A level of which nobody was heard has sums of 0 and no noise: it says nothing."""
    everybody = People(np.zeros(120, dtype=np.int64), Grid.cells((8, 8)))
    case = Case(settings(algorithm), {}, everybody, (0,), "fair", 3, 0.12)
    made, said, *_ = published(case, everybody, Recorder("fair"))
    assert made is None
    assert "Every shard was refused" in said


@pytest.mark.parametrize("algorithm", ["hierarchical", "decomposition", "count-min"])
def test_a_level_of_which_nobody_was_heard_is_not_published(algorithm: str) -> None:
    """In some storms a part of the levels is refused; what is published was heard."""
    side = 128 if algorithm == "count-min" else 8
    everybody = People(np.zeros(120, dtype=np.int64), Grid.cells((side, side)))
    heard = []
    for seed in range(8):
        case = Case(settings(algorithm), {}, everybody, (0,), "fair", seed, 0.32)
        made, *_ = published(case, everybody, Recorder("fair"))
        if made is not None and any(row.answered == 0 for row in made.heard):
            heard.append(made)
            assert np.isfinite(made.tree.value).all()
            assert (made.tree.precision >= 0).all()
            assert float(made.answer([[0, 0, side, side]]).sd[0]) > 0
    assert heard


def test_noise_of_another_law_is_seen_by_its_distribution() -> None:
    """Not for replay, which forces sums: the law itself is tested."""
    case = Case({**settings("flat"), "dropped": 0.0}, {}, some_people(1, 200), (0,), "fair", 1)
    rng = np.random.default_rng(1)
    fair = try_case(case, rng).uniforms
    assert len(fair) > 100

    def doubled(right, *known):
        made = right(*known)
        return dataclasses.replace(made, value=2 * made.value)

    with planted((shards, "shares", doubled)):
        wide = try_case(case, rng).uniforms
    assert distributions.uniform_p_value(fair) > 1e-6
    assert distributions.uniform_p_value(wide) < 1e-6


def test_a_run_that_fails_is_a_breach(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by zero")

    case = draw_case(Seeded("fails"), decided)
    monkeypatch.setattr(Federated, "_drawn", broken)
    with pytest.raises(Breach, match="the run fails"):
        published(case, case.people, Recorder("fair"))
