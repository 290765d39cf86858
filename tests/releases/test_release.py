"""Releases: what they hold, their files, and files that are not releases."""

import base64
import io
import json

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer import (
    AG,
    HTF,
    UG,
    FrequencyMatrix,
    Grid,
    InputError,
    Release,
    Uniform,
)
from tests.helpers import city


@pytest.fixture
def release():
    grid = Grid.around(-30, 40, 20_000, shape=(64, 64))
    matrix = FrequencyMatrix(city().counts, grid)
    return HTF(epsilon=0.5, inference="least squares").release(matrix, rng=3)


def test_a_file_gives_back_the_same_release(release, tmp_path):
    path = tmp_path / "map.parquet"
    release.save(path)
    again = Release.load(path)
    boxes = [[-3000, -2500.5, 4000, 100], [-10_000, -10_000, 10_000, 10_000]]
    before, after = release.answer(boxes), again.answer(boxes)
    assert np.array_equal(before.value, after.value)
    assert np.array_equal(before.sd, after.sd)
    assert again.ledger == release.ledger
    assert again.grid == release.grid
    assert dict(again.parameters) == dict(release.parameters)
    assert again.summary() == release.summary()
    assert again.stages() == release.stages()
    assert np.array_equal(again.height, release.height)


@pytest.mark.parametrize("mechanism", [UG(), AG(), Uniform()])
def test_other_partitions_come_back_too(mechanism, tmp_path):
    release = mechanism.release(city((30, 41)), rng=1)
    release.save(tmp_path / "map.parquet")
    again = Release.load(tmp_path / "map.parquet")
    assert np.array_equal(again.density(), release.density())
    assert np.array_equal(again.tree.draws, release.tree.draws, equal_nan=True)


def test_other_tools_read_the_file(release, tmp_path):
    release.save(tmp_path / "map.parquet")
    frame = geopandas.read_parquet(tmp_path / "map.parquet")
    assert frame.crs == release.grid.crs
    assert frame["count"].sum() == pytest.approx(release.total)
    assert frame.geometry.area.sum() == pytest.approx(20_000**2)
    mine = release.to_geodataframe()
    assert mine.geometry.geom_equals(frame.geometry.set_axis(mine.index)).all()
    for name in ("count", "noise_sd", "density", "low", "high"):
        assert mine[name].tolist() == frame[name].tolist()


def test_what_is_not_a_release_is_refused(release, tmp_path):
    good = tmp_path / "good.parquet"
    release.save(good)
    text = tmp_path / "text.parquet"
    text.write_text("not parquet")
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(good.read_bytes()[:-400])
    plain = tmp_path / "plain.parquet"
    pq.write_table(pa.table({"lon": [1.0]}), plain)
    for path, words in (
        (tmp_path / "none.parquet", "There is no release file"),
        (text, "damaged or not a release"),
        (cut, "damaged or not a release"),
        (plain, "not a release"),
        (tmp_path, "There is no release file"),
    ):
        with pytest.raises(InputError, match=words):
            Release.load(path)


def _rewrite(path, change, drop_rows=0):
    table = pq.read_table(path)
    facts = json.loads(table.schema.metadata[b"dp-explorer"])
    change(facts)
    meta = {**table.schema.metadata, b"dp-explorer": json.dumps(facts).encode()}
    pq.write_table(table.slice(drop_rows).replace_schema_metadata(meta), path)


def _bomb():
    """An archive of a few kilobytes that unpacks to 80 MB."""
    raw = io.BytesIO()
    np.savez_compressed(raw, node=np.zeros(10**7))
    return base64.b64encode(raw.getvalue()).decode()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.update(format=4), "format 4 and this version reads 1 and 2 and 3"),
        (lambda f: f.update(format=True), "format True"),
        (lambda f: f.update(nodes=10**9), "more leaves than"),
        (lambda f: f.update(inner="!!"), "damaged"),
        (lambda f: f.pop("domain"), "damaged"),
        (lambda f: f["domain"].pop("bounds"), "damaged"),
        (lambda f: f["domain"].update(kind="areas"), "kind 'areas'"),
        (lambda f: f["domain"].update(kind=[]), "kind"),
        (lambda f: f["domain"].update(shape=[64, 65]), "damaged"),
        (lambda f: f.pop("mechanism"), "damaged"),
        (lambda f: f.update(mechanism=None), "damaged"),
        (lambda f: f.update(mechanism="x" * 61), "damaged"),
        (lambda f: f.update(mechanism="<b>htf</b>"), "damaged"),
        (lambda f: f.update(mechanism="htf\n"), "damaged"),
        (lambda f: f.pop("epsilon"), "damaged"),
        (lambda f: f.update(epsilon=-4), "damaged"),
        (lambda f: f.update(epsilon="x"), "damaged"),
        (lambda f: f.update(epsilon=0.50001), "damaged"),
        (lambda f: f.update(epsilon=10**400), "damaged"),
        (lambda f: f.update(stages=["x"]), "damaged"),
        (lambda f: f.update(nodes="many"), "more leaves than"),
        (lambda f: f.update(nodes=None), "more leaves than"),
        (lambda f: f.update(haar_variance="x"), "damaged"),
        (lambda f: f["facts"].update(height="<script>"), "damaged"),
        (lambda f: f.update(units=10**400), "damaged"),
        (lambda f: f.update(units=-5), "damaged"),
        (lambda f: f.update(inside="foo"), "damaged"),
        (lambda f: f.update(inner=_bomb()), "damaged"),
        (lambda f: f["ledger"][0].pop("stage"), "damaged"),
    ],
)
def test_a_tampered_file_is_refused_in_a_sentence(release, tmp_path, change, words):
    path = tmp_path / "map.parquet"
    release.save(path)
    _rewrite(path, change)
    with pytest.raises(InputError, match=words):
        Release.load(path)


def test_missing_leaves_are_noticed(release, tmp_path):
    path = tmp_path / "map.parquet"
    release.save(path)
    _rewrite(path, dict.copy, drop_rows=1)
    with pytest.raises(InputError, match="damaged"):
        Release.load(path)


def test_two_leaves_in_one_place_and_a_hole_are_noticed(tmp_path):
    path = tmp_path / "map.parquet"
    UG(grid_size=4).release(city(), rng=1).save(path)
    table = pq.read_table(path)
    rows = table["lower_0"].to_numpy().copy(), table["upper_0"].to_numpy().copy()
    for column in rows:
        column[4:8] = column[0:4]
    table = table.set_column(table.schema.get_field_index("lower_0"), "lower_0", pa.array(rows[0]))
    table = table.set_column(table.schema.get_field_index("upper_0"), "upper_0", pa.array(rows[1]))
    pq.write_table(table, path)
    with pytest.raises(InputError, match="damaged"):
        Release.load(path)


@pytest.mark.parametrize(
    ("boxes", "words"),
    [
        ([[0, 0, 1]], "shape"),
        ([[1, 0, 0, 1]], "inside out"),
        ([[0, 0, np.nan, 1]], "finite"),
        ([["a", 0, 1, 1]], "numbers"),
        ([[0, 0, np.inf, 1]], "finite"),
    ],
)
def test_bad_rectangles_are_refused(release, boxes, words):
    with pytest.raises(InputError, match=words):
        release.answer(boxes)


def test_rectangles_outside_hold_nobody_and_none_is_an_answer_too(release):
    answer = release.answer([[50_000, 50_000, 60_000, 60_000]])
    assert (answer.value[0], answer.sd[0]) == (0, 0)
    assert release.answer([]).value.shape == (0,)


def test_intervals_are_symmetric(release):
    answer = release.answer([[0, 0, 5000, 5000]])
    low, high = answer.interval()
    assert (low + high) / 2 == pytest.approx(answer.value)
    assert high - low == pytest.approx(2 * 1.96 * answer.sd)
    # Held-back shares make this noise an upper bound; the leaves' own draws have a closed form.
    assert not answer.sd_exact
    assert HTF(epsilon=0.5).release(city(), rng=3).answer([[0, 0, 50, 50]]).sd_exact
