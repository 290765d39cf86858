"""Federated: its release, its files, its replay, its refusals."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from explorer.errors import InputError
from explorer.federated import calibration
from explorer.federated.baselines import BASELINES
from explorer.federated.mechanism import ALGORITHMS, Federated
from explorer.grid.grid import Grid
from explorer.inspection import decision
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.ledger import Ledger
from explorer.releases.distributed import DistributedRelease
from explorer.releases.release import Release
from explorer.releases.rounds import Heard
from tests.federated.town import town

TOWN = town()


def reloaded(release: Release, folder: Path) -> DistributedRelease:
    release.save(folder / "f.parquet")
    again = Release.load(folder / "f.parquet")
    assert isinstance(again, DistributedRelease)
    return again


SMALL = {"shard": 2_000, "dropped": 0.05, "corrupt": 0.0}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_gives_an_ordinary_release(algorithm: str, tmp_path: Path) -> None:
    made = Federated(epsilon=1, algorithm=algorithm, **SMALL)
    release = made.release(TOWN, rng=1)
    assert isinstance(release, Release)
    assert (release.kind, release.unit, release.preview) == ("distributed", "client", True)
    assert not release.sd_exact
    assert sum(part for _, part in release.stages()) == pytest.approx(1.0)
    assert sum(row.epsilon for row in release.ledger) == pytest.approx(1.0)
    frame = release.rounds
    wanted = ["cells", "people", "epsilon", "bits", "bytes", "split", "collapsed", "noise"]
    assert list(frame.columns[:8]) == wanted
    assert len(frame) == len(release.heard)
    whole = release.answer([[0, 0, 64, 64]])
    assert whole.value[0] == pytest.approx(TOWN.sum(), abs=6 * whole.sd[0] + 1)
    assert release.density().sum() == pytest.approx(whole.value[0])
    again = reloaded(release, tmp_path)
    assert again.rounds.equals(frame)
    assert np.array_equal(again.density(), release.density())
    assert again.facts == release.facts
    assert repr(Federated.of(again)) == repr(made)
    assert (again.kind, again.paying, again.joined) == ("distributed", release.paying,
                                                        release.joined)  # fmt: skip
    assert decision(again, 0).kind == decision(release, 0).kind


@pytest.mark.parametrize("algorithm", ["people", "mended", "paper"])
def test_replay_gives_every_round_the_last_is_the_release(algorithm: str, tmp_path: Path) -> None:
    release = Federated(epsilon=1, algorithm=algorithm, **SMALL).release(TOWN, rng=2)
    again = reloaded(release, tmp_path)
    last = len(release.heard)
    assert last > 1
    for number in range(1, last + 1):
        then, saved = release.replay(number), again.replay(number)
        assert np.array_equal(then.density(), saved.density())
        assert np.array_equal(then.sd, saved.sd)
        assert len(then.heard) == number
        assert then.rounds.equals(release.rounds[:number])
        assert then.answer([[0, 0, 32, 32]]).value == saved.answer([[0, 0, 32, 32]]).value
    assert np.array_equal(again.replay(last).density(), release.density())
    for wrong in (0, last + 1, -1, True, "first", 1.0, None, np.array([1, 2])):
        with pytest.raises(InputError, match="no round"):
            release.replay(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("algorithm", sorted(BASELINES))
def test_what_refines_nothing_has_a_map_at_its_end_only(algorithm: str, tmp_path: Path) -> None:
    made = Federated(algorithm=algorithm, **SMALL).release(TOWN, rng=2)
    for release in (made, reloaded(made, tmp_path)):
        last = len(release.heard)
        assert release.replay(last) is release
        for number in range(1, last):
            with pytest.raises(InputError, match="at its end only"):
                release.replay(number)


def test_a_refused_round_changes_no_tree_and_can_be_replayed() -> None:
    release = Federated(epsilon=1, **SMALL).release(TOWN, rng=2)
    first, second = release.heard[:2]
    assert isinstance(first, Heard)
    refused = dataclasses.replace(
        first, answered=0, sums=np.zeros_like(first.sums), split=first.split[:0]
    )
    waited = dataclasses.replace(release, heard=(refused, *release.heard))
    assert waited.refined
    assert np.array_equal(waited.replay(2).density(), release.replay(1).density())
    # A tree that came from nowhere is no refinement.
    jumped = dataclasses.replace(release, heard=(refused, second))
    assert not jumped.refined


def test_a_release_is_drawn_from_the_operating_system_and_booked(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite3", cap=1.5)
    matrix = FrequencyMatrix.from_array(TOWN)
    made = Federated(epsilon=1, people=50_000, **SMALL)
    release = made.release(matrix, ledger=ledger)
    assert not release.preview
    assert [row.units for row in ledger.rows(matrix.key)] == [10**12]
    made.release(matrix, rng=1, ledger=ledger)
    assert ledger.spent(matrix.key) == 10**12
    with pytest.raises(InputError, match="cap"):
        made.release(matrix, ledger=ledger)


@pytest.mark.parametrize("shape", [(64, 48), (50, 30), (5, 64), (3, 3), (1, 1), (1, 40)])
def test_any_grid_fills_the_beginning_of_a_square(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    counts = rng.poisson(40_000 / np.prod(shape), shape)
    for algorithm in ("people", "paper", "adaptive grid"):
        release = Federated(algorithm=algorithm, **SMALL).release(counts, rng=1)
        assert release.density().shape == shape
        box = [[0, 0, shape[1], shape[0]]]
        found = release.answer(box)
        assert found.value[0] == pytest.approx(counts.sum(), abs=6 * found.sd[0] + 1)


def test_an_earlier_release_says_what_to_ask_about() -> None:
    made, grids = Federated(**SMALL), [Grid.around(lon, 40, 8_000, shape=64) for lon in (0, 100)]
    here, there = (FrequencyMatrix(TOWN, grid) for grid in grids)
    earlier = made.release(here, rng=1)
    release = made.release(here, rng=2, prior=earlier)
    assert list(release.rounds.people) == [TOWN.sum()]
    assert np.array_equal(release.heard[0].tree.keys, earlier.heard[-1].tree.keys)  # type: ignore[attr-defined]
    for elsewhere in (there, town(32)):
        with pytest.raises(InputError, match="same grid"):
            made.release(elsewhere, rng=1, prior=earlier)
    gridded = made.with_(algorithm="adaptive grid").release(here, rng=1)
    with pytest.raises(InputError, match="cells to ask about"):
        made.release(here, rng=1, prior=gridded)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"speed": 3}, "no parameter"),
        ({"bits": 0}, "Bits is 0: give a whole number, 1 to 62"),
        ({"k": 0}, "k is 0: give a number, 0.1 to 100"),
        ({"sigma": "both"}, "Noise of the threshold is 'both': choose one of next round"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Federated(**settings)


@pytest.mark.parametrize(
    ("settings", "rng", "says"),
    [
        ({"dropped": 0.6, "corrupt": 0.39, "shard": 50}, 1, "nobody honest"),
        ({"algorithm": "sampling", "people": 50_000}, None, "seed"),
        ({"epsilon": 1e-6}, 1, "too wide"),
        ({}, "dice", "rng"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_sentence(settings, rng, says: str) -> None:
    with pytest.raises(InputError, match=says):
        Federated(**settings).release(TOWN, rng=rng)
    with pytest.raises(InputError, match="at least one person"):
        Federated().release(np.zeros((8, 8), dtype=int), rng=1)


def test_files_that_somebody_changed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    Federated(**SMALL).release(TOWN, rng=1).save(path)
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[b"dp-explorer"])
    for change in ({"paying": "nobody"}, {"joined": "yes"}, {"depth": 40}, {"rounds": "AAAA"}):
        changed = {**about, "distributed": {**about["distributed"], **change}}
        metadata = {**table.schema.metadata, b"dp-explorer": json.dumps(changed).encode()}
        pq.write_table(table.replace_schema_metadata(metadata), path)
        with pytest.raises(InputError, match="damaged"):
            Release.load(path)


@pytest.mark.parametrize("mode", ["ideal", "masked"])
def test_overflow_is_counted_shown_and_saved(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Federated(mode=mode, people=400, shard=200, dropped=0.05, corrupt=0.0)
    release = made.release(TOWN, rng=1)
    assert release.facts["overflow"] == 0
    assert release.rounds.overflow.tolist() == [0] * len(release.heard)
    # As if noise passed 1 once in 10^9 rounds: sums of -2 and less wrap round.
    monkeypatch.setattr(calibration, "lowest", lambda *_: 1)
    forced = made.release(TOWN, rng=1)
    again = reloaded(forced, tmp_path)
    for each in (forced, again):
        found = each.rounds.overflow
        assert (found > 0).all()
        assert each.facts["overflow"] == found.sum()
    # A shard has room for 200 people and noise of 1 on either side: 8 bits, 203 of 256 used.
    assert set(forced.rounds.bits) == {8}
    largest = max(np.abs(row.sums).max() for row in forced.heard if isinstance(row, Heard))
    assert largest > 200, "a sum of -2 is read as 254"


def test_where_nobody_counted_nothing_is_said_of_overflow(tmp_path: Path) -> None:
    release = Federated(mode="summed", **SMALL).release(TOWN, rng=1)
    assert "overflow" not in release.facts
    assert release.rounds.overflow.isna().all()
    assert reloaded(release, tmp_path).rounds.equals(release.rounds)


@pytest.mark.parametrize("algorithm", [each for each in ALGORITHMS if each != "sampling"])
def test_bits_that_are_too_few_are_refused_with_the_fewest_that_do(algorithm: str) -> None:
    made = Federated(algorithm=algorithm, bits=3, **SMALL)
    with pytest.raises(InputError, match=r"3 bits a number are too few.*give (1[0-9]) or") as said:
        made.release(TOWN, rng=1)
    fewest = int(re.findall("give ([0-9]+) or", str(said.value))[0])
    with pytest.raises(InputError, match="too few"):
        made.with_(bits=fewest - 1).release(TOWN, rng=1)
    chosen = made.with_(bits=fewest).release(TOWN, rng=1)
    own = made.with_(bits=None).release(TOWN, rng=1)
    assert set(chosen.rounds.bits) == {fewest}
    assert own.rounds.bits.max() <= fewest
    assert chosen.facts["bits"] == fewest
    assert chosen.facts["overflow"] == 0
    # Where sums fit, nothing but the bytes depends on the bits.
    assert np.array_equal(chosen.density(), own.density())
    assert (chosen.rounds.bytes >= own.rounds.bytes).all()


OPTIONS = [
    ("people", {"furthest": 1, "c": 1.0}),
    ("mended", {"furthest": 1, "b": 2.0}),
    ("paper", {"k": 6.0}),
    ("paper", {"threshold": 400.0}),
    ("paper", {"sigma": "both rounds"}),
    ("paper", {"sigma": "one shard"}),
    ("paper", {"equal_rounds": 3}),
    ("paper", {"collapse": 0.0, "c": 0.3}),
    ("paper", {"c": 0.5, "given_up": "closed", "growth": 0.05}),
    ("flat", {"level": 3}),
    ("sampling", {"level": 3}),
    ("decomposition", {"more_for": "large cells"}),
    ("adaptive grid", {"grid_epsilon": "by shards"}),
]


@pytest.mark.parametrize(("algorithm", "options"), OPTIONS)
def test_options_change_the_map_and_are_saved(
    algorithm: str, options: dict[str, Any], tmp_path: Path
) -> None:
    plain = Federated(algorithm=algorithm, **SMALL)
    made = plain.with_(**options)
    release = made.release(TOWN, rng=1)
    assert not np.array_equal(release.density(), plain.release(TOWN, rng=1).density())
    rebuilt = Federated.of(reloaded(release, tmp_path))
    assert repr(rebuilt) == repr(made)
    assert np.array_equal(rebuilt.release(TOWN, rng=1).density(), release.density())
    assert set(options) <= made.relevant()
    # Of other algorithms they change nothing.
    for other in {"people", "hierarchical"} - {algorithm}:
        assert not {*options} - {"c", "b", "furthest"} & made.with_(algorithm=other).relevant()


def test_each_algorithm_has_its_own_c_and_b() -> None:
    own = {"people": (0.6, 2.0), "mended": (0.6, 3.0), "paper": (0.1, 2.0)}
    for algorithm, (c, b) in own.items():
        plain = Federated(algorithm=algorithm, **SMALL).release(TOWN, rng=1)
        assert (plain.facts["c"], plain.facts["b"]) == (c, b)
        assert plain.parameters["c"] is plain.parameters["b"] is None
        told = Federated(algorithm=algorithm, c=c, b=b, **SMALL).release(TOWN, rng=1)
        assert np.array_equal(told.density(), plain.density())
        other = Federated(algorithm=algorithm, c=2 * c, b=b, **SMALL).release(TOWN, rng=1)
        assert other.facts["c"] == 2 * c
    for idle in (Federated(algorithm="flat"), Federated(algorithm="paper", equal_rounds=4)):
        assert "c" not in idle.with_(**SMALL).release(TOWN, rng=1).facts


@pytest.mark.parametrize("bits", [13, 14])
def test_chosen_bits_that_do_are_enough_for_a_release(tmp_path: Path, bits) -> None:
    # What is compiled before the booking is of other people, for whom they would be too few.
    ledger = Ledger(tmp_path / "ledger.sqlite3", cap=20)
    made = Federated(algorithm="mended", epsilon=10.0, shard=1_000, depth=5, bits=bits)
    matrix = FrequencyMatrix.from_array(TOWN)
    release = made.release(matrix, ledger=ledger, people_are_public=True)
    assert not release.preview
    assert {row.bits for row in release.heard} == {bits}


def shard_of_3459() -> FrequencyMatrix:
    drawn = np.random.default_rng(0).integers(0, 512, 3459)
    return FrequencyMatrix.from_array(np.bincount(drawn, minlength=64 * 64).reshape(64, 64))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        # Rounds that are too cheap.
        ({"algorithm": "decomposition", "more_for": "large cells", "epsilon": 5.5e-4, "depth": 4},
         "noise too wide"),
        ({"algorithm": "count-min", "epsilon": 2.3e-3, "depth": 6}, "noise too wide"),
        ({"bits": 8, **SMALL}, "too few"),
        # Small shards of a later round.
        ({"shard": 600, "dropped": 0.5, "corrupt": 0.4, "people": None, "b": 1}, "nobody honest"),
    ],
)  # fmt: skip
def test_what_a_later_round_makes_impossible_books_nothing(
    tmp_path: Path, settings: dict[str, Any], says: str
) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    public = "people" in settings
    matrix = shard_of_3459() if public else FrequencyMatrix.from_array(TOWN)
    made = Federated(**{"people": 50_000, **settings})
    with pytest.raises(InputError, match=says):
        made.release(matrix, ledger=ledger, people_are_public=public or None)
    assert ledger.spent(matrix.key) == 0


def test_a_release_takes_no_cells_of_a_preview() -> None:
    preview = Federated(epsilon=1, **SMALL).release(TOWN, rng=1)
    with pytest.raises(InputError, match="a preview, whose cells are not private"):
        Federated(epsilon=1, people=50_000, **SMALL).release(TOWN, prior=preview)
    drawn = Federated(epsilon=1, people=50_000, **SMALL).release(TOWN)
    after = Federated(epsilon=1, people=50_000, **SMALL).release(TOWN, prior=drawn)
    assert not after.preview
    assert after.facts["cells of an earlier release"] == after.heard[0].cells
    assert "cells of an earlier release" not in drawn.facts


@pytest.mark.parametrize("algorithm", ["paper", "mended", "people"])
def test_cells_of_any_earlier_release_add_up(algorithm: str) -> None:
    """Algorithm 2 as printed leaves families in part: sums were given to the wrong cells."""
    people = int(TOWN.sum())
    how = {"people": None, "shard": people, "dropped": 0.0, "corrupt": 0.0, "epsilon": 1.0}
    earlier = Federated(**how, algorithm=algorithm).release(TOWN, rng=1)
    after = Federated(**how).release(TOWN, rng=2, prior=earlier)
    # One shard: noise of 1.4 people in each of v cells, four standard errors of their sum.
    allowed = 4 * 1.5 * after.heard[0].cells ** 0.5
    assert after.density().sum() == pytest.approx(people, abs=allowed)
    south = after.answer([[0, 0, 64, 32]]).value[0]
    assert south == pytest.approx(TOWN[:32].sum(), abs=allowed)


def test_a_run_whose_shards_were_all_refused_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "fewest", lambda size, *_: size)
    for algorithm in ("people", "paper"):
        with pytest.raises(InputError, match="Every shard was refused"):
            Federated(algorithm=algorithm, dropped=0.2, corrupt=0.0).release(TOWN, rng=1)
