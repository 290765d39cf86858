"""Country: counts that add up, budgets on every path, thresholds, users, what is refused."""

import geopandas
import numpy as np
import pytest
import shapely

from explorer import Areas, Country, InputError, Ledger, Points, all_mechanisms
from explorer.country.outlook import outlook
from explorer.privacy.epsilon_range import MIN_EPSILON
from explorer.releases.units import to_units
from explorer.testing import NoNoise
from tests.country.nation import CRS, nation, people
from tests.refusals import refuses


@pytest.fixture(scope="module")
def areas():
    return nation()


@pytest.fixture(scope="module")
def counts(areas):
    return areas.count(people(), cell=500.0)


def path_units(release):
    return release.tree.path_spent.sum(axis=1)[release.tree.leaves]


@pytest.mark.parametrize("inside", [*all_mechanisms(), "none"])
def test_without_noise_every_area_is_right(counts, inside):
    """With any mechanism inside; leaves without land hold nobody here."""
    # AG moves first counts by what their noise pulls, also where there is none: not for leaves.
    settings = {"inference": "leaves"} if inside == "ag" else {}
    mechanism = Country(epsilon=1, inside=inside, inside_settings=settings)
    made = mechanism.release(counts, rng=NoNoise())
    frame = made.areas()
    # Mosaic takes small counts for noise in part, also where there is none. What it overestimates
    # goes on, which makes up for it, but where there is no noise: its maps say a little less.
    far = {"rtol": 0.04} if inside == "mosaic" else {"atol": 1e-6}
    np.testing.assert_allclose(frame["count"], counts.by_node, **far)
    np.testing.assert_allclose(frame["unbiased"], counts.by_node, **far)
    assert made.density().sum() == pytest.approx(frame["count"].iloc[0])


@pytest.mark.parametrize("inside", ["mosaic", "htf", "privtree", "none"])
@pytest.mark.parametrize("budgets", Country.param["budgets"].objects)
def test_every_path_spends_epsilon_exactly(counts, inside, budgets):
    made = Country(epsilon=0.7, inside=inside, budgets=budgets).release(counts, rng=3)
    spent = path_units(made) + np.array([
        0 if each is None else _rest(made, each, place) for place, each in enumerate(made.maps)
    ])  # fmt: skip
    if inside in ("mosaic", "none"):
        assert np.all(spent == to_units(0.7))
    # HTF and PrivTree round the shares of their levels down themselves.
    assert np.all((spent > to_units(0.7) - 1000) & (spent <= to_units(0.7)))
    assert sum(row.epsilon for row in made.ledger) == pytest.approx(0.7, rel=1e-6)


def _rest(made, each, place):
    """Nothing: what maps cost is on the accounts of their areas already."""
    inner = int(each.tree.path_spent.sum(axis=1).max())
    leaf = made.tree.leaves[place]
    own = made.tree.spent[leaf].sum()
    assert own >= inner > 0
    return 0


def test_counts_add_up_and_none_is_negative(counts):
    made = Country(epsilon=0.01).release(counts, rng=1)
    frame, parent = made.areas(), counts.areas.parent
    assert (frame["count"] >= 0).all()
    assert (frame["unbiased"] < 0).any(), "or nothing was moved"
    below = np.bincount(parent[1:], frame["count"][1:], minlength=len(parent))
    inner = np.bincount(parent[1:], minlength=len(parent)) > 0
    np.testing.assert_allclose(below[inner], frame["count"][inner], rtol=1e-9)
    loose = Country(epsilon=0.01, consistency="least squares").release(counts, rng=1)
    np.testing.assert_allclose(loose.areas()["count"], frame["unbiased"])


def test_an_only_child_is_the_same_people(counts):
    made = Country(epsilon=0.2).release(counts, rng=1)
    frame = made.areas().set_index("path")
    assert frame.loc["North"]["count"] == frame.loc["North/Moor"]["count"]
    assert np.count_nonzero(made.windows.people.chain == 2) == 1


def test_noise_is_as_large_as_said(counts):
    """Over 300 draws of 12 nodes: the spread of z scores, within 4 standard errors of 1."""
    made = Country(epsilon=0.3, inside="none", budgets="Eq. 38", consistency="least squares")
    drawn = [made.release(counts, rng=seed) for seed in range(300)]
    truth = counts.by_node[drawn[0].windows.people.top[drawn[0].node]]
    scores = np.array([each.tree.value - truth for each in drawn]) / drawn[0].sd
    # The fourth moment of sums of Laplace noise is at most 6.
    assert np.all(np.abs((scores**2).mean(axis=0) - 1) < 4 * np.sqrt(5 / 300))
    assert np.all(np.abs(scores.mean(axis=0)) < 4 / np.sqrt(300))


def test_a_threshold_starts_maps_above(counts):
    """The areas below are answered from the map of theirs, by share of cells."""
    printed = {"budgets": "Eq. 38", "inside": "ug"}
    made = Country(epsilon=1, threshold=10**9, **printed).release(counts, rng=NoNoise())
    assert len(made.tree) == 1, "lower than any threshold: the map is of the whole"
    frame = made.areas()
    assert frame["count"].iloc[0] == pytest.approx(counts.by_node[0])
    assert np.isfinite(frame[["count", "sd", "unbiased"]].to_numpy()).all()
    low = Country(epsilon=1, threshold=0, inside="ug").release(counts, rng=NoNoise())
    assert len(low.maps) == len(counts.areas)


def test_the_threshold_looks_at_a_draw(counts):
    """Two seeds, other noise, another structure; the count itself would decide alike."""
    middle = float(np.median(counts.by_node[counts.areas.level == 1]))
    made = Country(epsilon=0.01, threshold=middle, budgets="uniform", inside="ug")
    assert len({len(made.release(counts, rng=seed).tree) for seed in range(12)}) > 1


def test_the_paper_as_printed(counts):
    made = Country.paper_as_printed(0.5, threshold=0).release(counts, rng=2)
    lowest = made.tree.leaves
    column = made.tree.stages.index("areas")
    assert np.all(made.tree.spent[lowest, column] == 0), "no draw of level 3 (erratum c)"
    # Upper counts are the draws as they are: whole numbers.
    upper = np.setdiff1d(np.arange(len(made.tree)), lowest)
    np.testing.assert_allclose(made.tree.value[upper], np.round(made.tree.value[upper]))
    below = np.bincount(made.tree.parent[1:], made.tree.value[1:], minlength=len(made.tree))
    assert np.abs(below - made.tree.value)[upper].max() > 1, "and do not agree"


def test_a_user_counts_k_times_in_the_country(areas):
    rng = np.random.default_rng(0)
    base = people()
    user = rng.integers(0, 40, len(base))
    points = Points(base.x, base.y, CRS, user=user)
    counts = areas.count(points, contribution_bound=3)
    inside = areas.assign(base.x, base.y, CRS) >= 0
    kept = np.minimum(np.bincount(user[inside], minlength=40), 3)
    assert counts.by_area.sum() == kept.sum()
    assert (counts.contribution_bound, counts.unit) == (3, "user")
    made = Country(epsilon=0.5, inside="none", consistency="least squares")
    one, several = (
        made.release(areas.count(points, per="record"), rng=1),
        made.release(counts, rng=1),
    )
    np.testing.assert_allclose(several.sd / one.sd, 3, rtol=0.02)
    assert "protects each record with" in one.summary()
    assert "protects each user, of up to 3 records" in several.summary()


def test_of_each_user_rows_are_kept_whatever_areas_they_lie_in(areas):
    """Each of the rows inside is as likely; those outside do not count."""
    x, y = np.array([-1e6, 3_000.0, 15_500, 25_500]), np.full(4, 3_000.0)
    users = 300
    user = np.repeat(np.arange(users), 4)
    points = Points(np.tile(x, users), np.tile(y, users), CRS, user=user)
    kept = areas.count(points, contribution_bound=2).by_area
    assert kept.sum() == 2 * users
    chosen = np.flatnonzero(kept)
    assert chosen.tolist() == sorted(areas.assign(x[1:], y[1:], CRS).tolist())
    # Two of three rows count, with variance 2/3 1/3 for each user.
    assert np.abs(kept[chosen] - 2 * users / 3).max() < 5 * np.sqrt(users * 2 / 9)


@pytest.mark.parametrize(("settings", "said"), [
    ({"inside": "quadtre"}, "choose one of"), ({"own_share": 1.0}, "Own share"),
    ({"budgets": "best"}, "choose one of"), ({"threshold": -1}, "Threshold"),
    ({"inside": "htf", "inside_settings": {"heigth": 3}}, "no parameter 'heigth'"),
    ({"epsilon": 0}, "psilon"),
])  # fmt: skip
def test_settings_that_cannot_be_are_refused(settings, said):
    refuses(said, Country, **settings)


def test_what_is_no_count_of_areas_is_refused(counts):
    refuses(r"areas\.count", Country().release, np.ones((3, 3)))
    refuses("rng", Country().release, counts, rng="dice")


def test_too_little_for_the_maps_is_refused_before_a_draw(counts):
    class Refusing(NoNoise):
        def laplace(self, *_):
            raise AssertionError("drawn")

    with pytest.raises(InputError, match="psilon"):
        Country(epsilon=MIN_EPSILON, own_share=0.95).release(counts, rng=Refusing())


def test_a_release_is_booked_before_it_is_drawn(counts, tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite3", cap=1.0)
    made = Country(epsilon=0.6, inside="ug").release(counts, ledger=ledger)
    assert not made.preview
    assert ledger.spent(counts.key) == to_units(0.6)
    refuses("cap", Country(epsilon=0.6, inside="ug").release, counts, ledger=ledger)
    Country(epsilon=0.6, inside="ug").release(counts, rng=1, ledger=ledger)
    assert ledger.spent(counts.key) == to_units(0.6), "a preview books nothing"


def test_how_good_an_area_will_be_is_said_before(counts):
    """Exact for unions where there are no maps; polygons say what they cut through."""
    plan = Country(epsilon=0.5, inside="none")
    where = [["Port", "Vale"], ["North"], ["West"]]
    said, made = outlook(plan, counts.windows, where), plan.release(counts, rng=0)
    np.testing.assert_allclose(said.sd, made.answer(where).sd, rtol=1e-9)
    assert (said.whole.tolist(), said.cut.tolist()) == ([2, 2, 4], [0, 0, 0])
    west, south, east, north = counts.windows.grid.bounds
    half = outlook(Country(), counts.windows, [[west, south, (west + east) / 2, north]])
    assert half.cut[0] > 0
    assert half.whole[0] + half.cut[0] <= len(counts.areas)


def test_an_area_without_a_share_of_any_cell_is_spread_over_its_window():
    """Smaller than rounding lets a share be: the count is not lost."""
    shapes = [shapely.box(0, 0, 10_000, 10_000), shapely.box(20_000, 0, 20_000.01, 0.01)]
    frame = geopandas.GeoDataFrame({"name": ["large", "dot"]}, geometry=shapes, crs=CRS)
    areas = Areas.read(frame, ["name"])
    points = Points(np.full(5, 20_000.005), np.full(5, 0.005), CRS)
    made = Country(epsilon=1).release(areas.count(points, cell=500.0), rng=NoNoise())
    frame = made.areas().set_index("name")
    assert frame.loc["dot"]["count"] == pytest.approx(5, abs=0.5)  # Mosaic doubts small counts
