"""The audit: what it adds up, what it calls a breach, and that it stops there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyogrio
import pytest

from explorer import UG, FrequencyMatrix, Grid
from explorer.mechanisms import Identity, QuadTree, Uniform
from explorer.privacy.audit import surface as module
from explorer.privacy.audit.audit import (
    Finding,
    front_door,
    replay_cases,
    try_case,
)
from explorer.privacy.audit.cases import NEIGHBOURS, Seeded, draw_case
from explorer.privacy.audit.sources import (
    NoiseFinding,
    check_noise,
    check_opendp,
    check_preview_noise,
)
from explorer.privacy.audit.surface import surface
from explorer.privacy.noise import PreviewNoise
from explorer.releases.units import to_units
from tests.audit.mutants import Cooked, behind


def test_a_seed_and_a_number_name_a_case() -> None:
    together = replay_cases(Identity, range(20), seed=5)
    apart = replay_cases(Identity, range(11), seed=5) + replay_cases(Identity, range(11, 20), 5)
    assert (together.pairs, together.largest) == (apart.pairs, apart.largest)
    other = replay_cases(Identity, range(20), seed=6)
    assert not np.array_equal(together.uniforms, other.uniforms)


def test_the_first_breach_ends_it_and_is_told_in_full() -> None:
    class Everything(Cooked):
        def count(self, regions, units, stage):
            return super().count(regions, self.units, stage)

    found = replay_cases(QuadTree, range(50), publish=behind(Everything))
    assert found.pairs < 50 * NEIGHBOURS
    assert found.breach is not None
    assert "times epsilon" in found.breach
    assert "counts [[" in found.breach
    assert "contribution bound" in found.breach


def test_books_that_do_not_add_up_are_a_breach() -> None:
    def stingy(mechanism):
        half = type(mechanism)(epsilon=mechanism.epsilon / 2)
        whole = front_door(half)
        # Says that it spent epsilon; its books say half of it.
        units = to_units(mechanism.epsilon)
        return lambda matrix, source: replace(whole(matrix, source), units=units)

    case = draw_case(Uniform, Seeded(1))
    found = try_case(Uniform, case, stingy)
    assert found.fault is not None
    assert "the books show" in found.fault


def test_parts_of_an_audit_add_up() -> None:
    one = Finding("htf", 10, 1.0, 0.4, np.array([0.1]))
    other = Finding("htf", 5, 0.5, 0.9, np.array([0.7, 0.2]), "somewhere")
    both = one + other
    assert (both.pairs, both.seconds, both.largest) == (15, 1.5, 0.9)
    assert both.uniforms.tolist() == [0.1, 0.7, 0.2]
    assert both.breach == "somewhere"
    assert (one + one).breach is None


def test_noise_can_be_a_breach_too() -> None:
    even = np.repeat((np.arange(4096) * 0.6180339887) % 1, 2)
    assert "noise does not follow its distribution" in str(Finding("htf", uniforms=even).breach)
    # Too few to tell.
    assert Finding("htf", uniforms=np.zeros(100)).breach is None


@pytest.mark.statistical
def test_both_sources_follow_their_laws() -> None:
    preview, release = check_preview_noise(1), check_opendp()
    assert {each.source for each in preview} == {"preview"}
    assert {each.source for each in release} == {"release"}
    for each in [*preview, *release]:
        assert not each.breach, each
    assert sum(each.kind.startswith("counts") for each in release) == 3


@pytest.mark.statistical
def test_a_wrong_source_is_found() -> None:
    class Sharp(PreviewNoise):
        """Noise for a tenth more than the budget."""

        def laplace(self, values, sensitivity, units, keys, stage):
            return super().laplace(values, sensitivity, units + units // 10, keys, stage)

    found = {each.kind: each.breach for each in check_noise("sharp", Sharp(1), 100_000, 1000)}
    assert found.pop("choices") is False
    assert all(found.values()), found


def test_the_verdict_on_noise_takes_both_tests() -> None:
    right = NoiseFinding("release", "counts", 10, 0.5, 0.9)
    assert not right.breach
    assert replace(right, p_value=1e-8).breach
    assert replace(right, bound=1.1).breach


def test_pairs_of_which_none_moves_a_figure_are_a_breach() -> None:
    data = np.ones((4, 4), dtype=np.int64)

    def always_the_same(mechanism):
        return lambda _matrix, source: mechanism.release(data, rng=source)

    found = replay_cases(Uniform, range(20), publish=always_the_same)
    assert "no figure moves in 80 pairs" in str(found.breach)
    assert replay_cases(Uniform, range(2), publish=always_the_same).breach is None


def written(hour: str, monkeypatch) -> bytes:
    monkeypatch.setattr(module, "HOUR", {"OGR_CURRENT_DATE": hour})
    grid = Grid.around(2.35, 48.85, 8000, shape=16)
    matrix = FrequencyMatrix.from_array(np.arange(256).reshape(16, 16), grid)
    files = surface(UG(0.5).release(matrix, rng=1), files=True).files
    assert files["map.gpkg"].startswith(b"SQLite format 3\0")
    return files["map.gpkg"]


def test_files_are_compared_byte_by_byte_and_the_hour_is_the_same(monkeypatch) -> None:
    """GeoPackage keeps it, and sometimes it decides how often a page is written."""
    hour = module.HOUR["OGR_CURRENT_DATE"]
    assert written(hour, monkeypatch) == written(hour, monkeypatch)
    # Nothing is left out: another hour is another file.
    assert written("2001-02-03T04:05:06.789Z", monkeypatch) != written(hour, monkeypatch)
    assert pyogrio.get_gdal_config_option("OGR_CURRENT_DATE") is None, "for an audit alone"
