"""EUG, EBP and MKM: their formulas, their grids, and what they refuse."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import explorer
from explorer import EBP, EUG, MKM, UG, InputError
from explorer.mechanisms import all_mechanisms, limits, trip_mechanisms
from explorer.mechanisms.trip_grids import (
    ebp_parts,
    eug_parts,
    eug_parts_corrected,
    mkm_parts,
)
from explorer.privacy.ledger import Ledger
from explorer.releases.units import to_units
from explorer.testing import NoNoise
from explorer.testing.counts import counted
from explorer.trips.matrix import TripMatrix

GRIDS = [EUG, EBP, MKM]


def trips(number: int = 3000, side: int = 12, axes: int = 4) -> TripMatrix:
    where = np.random.default_rng(axes).normal(side / 3, side / 6, (number, axes))
    return TripMatrix.from_coordinates(
        np.clip(where, 0, side - 1).astype(np.int64), [side] * (axes // 2)
    )


def test_formulas_are_the_references(reference_data) -> None:
    table = json.loads(reference_data("trips/formulas.json").read_text())["m"]
    assert len(table) >= 45
    for name, wanted in table.items():
        total, epsilon, d = (float(each.split("=")[1]) for each in name.split("|"))
        d = int(d)
        found = {
            "eug_r": [eug_parts(total, epsilon, d, r) for r in (0.01, 0.1, 1)],
            "eug": eug_parts(total, epsilon, d),
            "eug_star": eug_parts_corrected(total, epsilon, d),
            "ebp": ebp_parts(total, epsilon, d),
            "mkm": mkm_parts(total, d),
        }
        for key, value in wanted.items():
            # The file has six decimals.
            assert found[key] == pytest.approx(value, abs=2e-6), (name, key)


def test_eug_on_a_map_is_ug_with_what_the_total_left() -> None:
    counts = np.random.default_rng(0).poisson(5, (64, 48))
    release = EUG(epsilon=1.0).release(counts, rng=NoNoise())
    size = round(math.sqrt(counts.sum() * 0.99 / 10))
    same = UG(epsilon=1.0, grid_size=size).release(counts, rng=NoNoise())
    boxes = [
        np.hstack([each.lower, each.upper])[np.lexsort(each.lower.T)] for each in (release, same)
    ]
    np.testing.assert_array_equal(*boxes)
    assert release.n_leaves == size**2


@pytest.mark.parametrize("axes", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("kind", GRIDS)
def test_every_part_has_one_draw_with_the_rest(kind, axes: int) -> None:
    shape = (7, 3, 5, 4, 2, 3)[:axes]
    counts = counted(np.random.default_rng(axes).poisson(30, shape))
    release = kind(epsilon=0.5).release(counts, rng=1)
    tree, rest = release.tree, to_units(0.5) - to_units(0.005)
    paid = tree.spent[tree.leaves]
    assert set(paid[:, tree.stages.index("parts")].tolist()) == {rest}
    assert set(tree.path_spent[tree.leaves].sum(axis=1).tolist()) == {to_units(0.5)}
    wanted = [min(max(round(release.facts["parts a side"]), 1), side) for side in shape]
    assert release.n_leaves == math.prod(wanted)
    for axis, (number, side) in enumerate(zip(wanted, shape, strict=True)):
        edges = {i * side // number for i in range(number)}
        assert set(release.lower[:, axis].tolist()) == edges


def test_too_many_parts_are_refused_in_one_sentence_and_their_total_stays_booked(tmp_path) -> None:
    # Ten million parts are possible in a preview, a release has at most four.
    crowd = TripMatrix([[0, 0, 0, 0], [50, 3, 60, 9]], [600_000, 50_000], trips(1, 64).domain)
    ledger = Ledger(tmp_path / "ledger.json")
    with pytest.raises(InputError) as refusal:
        MKM(epsilon=0.1).release(crowd, ledger=ledger)
    sentence = str(refusal.value)
    # The noisy total has a scale of 1,000: it moves the parts a side, 56.2, by .03.
    parts = round(mkm_parts(650_000, 4)) ** 4
    assert limits.MOST_RELEASED < parts < limits.MOST_PARTS
    assert f"MKM would publish {parts:,} numbers" in sentence
    assert "4,194,304 are possible in a release" in sentence
    assert "has cost epsilon 0.001, which stays spent" in sentence
    assert sentence.count(".") == sentence.count("0.001") + 1
    assert ledger.spent(crowd.key) == to_units(0.001)
    (row,) = ledger.rows(crowd.key)
    assert (row.mechanism, row.units) == ("mkm", to_units(0.001))


def test_numbers_of_parts_pass_64_bits() -> None:
    domain = trips(1, 1024).domain
    crowd = TripMatrix([[0] * 4], [10**11], domain)
    with pytest.raises(InputError, match=r"would publish 1,099,511,627,776 numbers"):
        MKM(epsilon=1.0).release(crowd, rng=1)
    limits.require_parts("M", 2**24, 4, True, 1)
    with pytest.raises(InputError, match="18,446,744,073,709,551,616 numbers"):
        limits.require_parts("M", 2**64, 4, False, 1)


def test_menus_of_maps_keep_their_mechanisms() -> None:
    ours = {"eug", "ebp", "mkm", "daf-entropy", "daf-homogeneity"}
    assert not ours & set(all_mechanisms())
    assert ours < set(trip_mechanisms())
    assert {"identity", "uniform", "privtree", "mosaic"} < set(trip_mechanisms())
    assert all(2 in trip_mechanisms()[key].dimensions for key in ours)
    for kind in trip_mechanisms().values():
        assert explorer.mechanism(kind.key) is kind
        assert getattr(explorer, kind.__name__) is kind
