"""Releases: what they hold, their files, and files that are not releases."""

import base64
import io
import json

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer import HTF, UG, FrequencyMatrix, Grid, InputError, Release
from explorer.releases.file import KEY
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


def rewrite(path, change, drop_rows=0):
    """Change the facts of a release file, and leave out its first rows."""
    table = pq.read_table(path)
    facts = json.loads(table.schema.metadata[KEY])
    change(facts)
    metadata = {**table.schema.metadata, KEY: json.dumps(facts).encode()}
    pq.write_table(table.slice(drop_rows).replace_schema_metadata(metadata), path)


def _bomb():
    """An archive of a few kilobytes that unpacks to 80 MB."""
    raw = io.BytesIO()
    np.savez_compressed(raw, node=np.zeros(10**7))
    return base64.b64encode(raw.getvalue()).decode()


DAMAGE = [
    *({"format": each} for each in (4, True)),
    *({"nodes": each} for each in (10**9, "many", None)),
    *({"mechanism": each} for each in (None, "x" * 61, "<b>htf</b>", "htf\n")),
    *({"epsilon": each} for each in (-4, "x", 0.50001, 10**400)),
    *({"units": each} for each in (10**400, -5)),
    *({"inner": each} for each in ("!!", _bomb())),
    {"stages": ["x"]},
    {"haar_variance": "x"},
    {"inside": "foo"},
    {"facts": {"height": "<script>"}},
]
INSIDE = [
    lambda facts: facts.pop("domain"),
    lambda facts: facts.pop("mechanism"),
    lambda facts: facts.pop("epsilon"),
    lambda facts: facts["domain"].pop("bounds"),
    lambda facts: facts["domain"].update(kind="areas"),
    lambda facts: facts["domain"].update(kind=[]),
    lambda facts: facts["domain"].update(shape=[64, 65]),
    lambda facts: facts["ledger"][0].pop("stage"),
]
SAYS = {"format": "format (4 and this version reads 1 and 2 and 3|True)", "nodes": "more leaves"}


@pytest.mark.parametrize("change", [*DAMAGE, *INSIDE])
def test_a_tampered_file_is_refused_in_a_sentence(release, tmp_path, change):
    path = tmp_path / "map.parquet"
    release.save(path)
    rewrite(path, change if callable(change) else lambda facts: facts.update(change))
    words = "damaged|kind" if callable(change) else SAYS.get(next(iter(change)), "damaged")
    with pytest.raises(InputError, match=words):
        Release.load(path)


def test_missing_leaves_are_noticed(release, tmp_path):
    path = tmp_path / "map.parquet"
    release.save(path)
    rewrite(path, dict.copy, drop_rows=1)
    with pytest.raises(InputError, match="damaged"):
        Release.load(path)


def test_two_leaves_in_one_place_and_a_hole_are_noticed(tmp_path):
    path = tmp_path / "map.parquet"
    UG(grid_size=4).release(city(), rng=1).save(path)
    table = pq.read_table(path)
    for name in ("lower_0", "upper_0"):
        column = table[name].to_numpy().copy()
        column[4:8] = column[0:4]
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(column))
    pq.write_table(table, path)
    with pytest.raises(InputError, match="damaged"):
        Release.load(path)


def test_rectangles_outside_hold_nobody_and_none_is_an_answer_too(release):
    answer = release.answer([[50_000, 50_000, 60_000, 60_000]])
    assert (answer.value[0], answer.sd[0]) == (0, 0)
    assert release.answer([]).value.shape == (0,)


def test_only_linear_inference_has_a_closed_form_of_its_noise(release):
    # Held-back shares make this noise an upper bound; the leaves' own draws have a closed form.
    assert not release.answer([[0, 0, 5000, 5000]]).sd_exact
    assert HTF(epsilon=0.5).release(city(), rng=3).answer([[0, 0, 50, 50]]).sd_exact
