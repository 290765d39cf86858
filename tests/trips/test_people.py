"""Users with many trips each: all count by weight, and a release protects, and says, users."""

import json
from dataclasses import replace

import numpy as np
import pytest

from explorer import (
    EBP,
    EUG,
    MKM,
    DAFEntropy,
    DAFHomogeneity,
    Gravity,
    Grid,
    InputError,
    Mosaic,
    PrivTree,
    Release,
    TripDomain,
    TripMatrix,
    Trips,
    exact,
    read_trips,
)
from explorer.evaluate import simulated_sd
from explorer.inspection.errors import error_split
from explorer.points.weights import LATTICE
from explorer.privacy.audit.audit import front_door
from explorer.privacy.audit.replay import Chosen, Recording
from explorer.privacy.noise import PreviewNoise
from explorer.releases.flows import Flows, flows, zone_boxes
from explorer.releases.units import to_units
from explorer.testing import NoNoise
from explorer.trips import truth as finding
from explorer.trips.truth import Worth, exact_flows, found, worth
from tests.refusals import refuses

DOMAIN = TripDomain([Grid.cells((8, 8)), Grid.cells((6, 9))])
CABS = (-122.42, 37.77, 20_000.0)
KINDS = [Gravity, EUG, EBP, MKM, DAFEntropy, DAFHomogeneity, PrivTree, Mosaic]


def cabs(number=40, most=60, seed=0):
    """Trips of users with 1 to `most` each, some of them outside."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(number), rng.integers(1, most + 1, number))
    rng.shuffle(user)
    x = [rng.normal(0.15 * side + 0.1 * (user % 5), 1.5) for side in (8, 9)]
    y = [rng.normal(0.15 * side + 0.1 * (user % 7), 1.5) for side in (8, 6)]
    return Trips((x[0], x[1]), (y[0], y[1]), crs=None, user=user)


def without(trips, gone):
    stays = trips.user != gone
    here = {name: tuple(a[stays] for a in getattr(trips, name)) for name in ("x", "y")}
    return replace(trips, **here, user=trips.user[stays])


@pytest.mark.parametrize("bound", [1, 10, 10**6])
def test_all_trips_count_by_weight(bound):
    trips = cabs()
    matrix = DOMAIN.count(trips, bound)
    whole = DOMAIN.count(trips, per="record")
    assert (matrix.lattice, matrix.unit) == (LATTICE, "user")
    assert matrix.contribution_bound == bound * LATTICE
    # Whoever is inside is so with every trip.
    assert matrix.cells.tolist() == whole.cells.tolist()
    fewer = [without(trips, user) for user in range(40)]
    inside = np.array([whole.total - DOMAIN.count(each, per="record").total for each in fewer])
    of_user = [matrix.total - DOMAIN.count(each, bound).total for each in fewer]
    assert of_user == (np.minimum(inside, bound) * LATTICE).tolist()
    assert matrix.people == pytest.approx(np.minimum(inside, bound).sum() / bound)
    everywhere = np.full((1, 2, 4), np.nan)
    counted = exact(matrix, everywhere, counted=True)
    assert counted == pytest.approx(np.minimum(inside, bound).sum())
    assert exact(matrix, everywhere) == pytest.approx(whole.total)


def test_a_bound_that_nobody_reaches_leaves_counts_as_they_are():
    trips = cabs()
    heavy, light = DOMAIN.count(trips, 1000), DOMAIN.count(trips, per="record")
    assert (heavy.multiplicities == LATTICE * light.multiplicities).all()
    boxes = [[[0, 0, 4, 4], [1, 1, 5.5, 4]], [[np.nan] * 4, [0, 0, 3, 3]]]
    assert exact(heavy, boxes) == pytest.approx(exact(light, boxes))
    of_zones = flows(Gravity(epsilon=1).release(heavy, rng=1), 3)
    ends = of_zones.origins, of_zones.destinations, (0, 1)
    assert exact_flows(heavy, *ends) == pytest.approx(exact_flows(light, *ends))


@pytest.mark.audit
@pytest.mark.parametrize("kind", [Gravity, EUG, DAFEntropy, DAFHomogeneity, PrivTree])
def test_a_user_with_all_trips_costs_epsilon(kind):
    units, made = to_units(0.9), kind(epsilon=0.9)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        trips = cabs(int(rng.integers(1, 6)), 30, seed)
        bound = int(rng.integers(1, 9))
        fewer = without(trips, int(rng.choice(trips.user)))
        data = [DOMAIN.count(each, bound) for each in (trips, fewer)]
        for source in (PreviewNoise(seed), Chosen(seed, "still"), Chosen(seed, "up")):
            for one, other in (data, data[::-1]):
                loss = Recording.of(front_door(made), one, source).replay(other)
                assert not loss.exceeds(units)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_hardly_matters_where_every_user_reaches_it(kind):
    rng = np.random.default_rng(5)
    where = rng.normal(2.5, 1.2, (4, 300 * 50))
    trips = Trips(tuple(where[:2]), tuple(where[2:]), crs=None, user=np.repeat(np.arange(300), 50))
    domain = TripDomain([Grid.cells(8), Grid.cells(8)])
    leaves = []
    for bound in (1, 5, 25):
        matrix = domain.count(trips, bound)
        # Without noise boxes follow from counts over the bound alone, and those are the users'.
        leaves.append(kind(epsilon=2.0).release(matrix, rng=NoNoise()).n_leaves)
    # Rounding to the lattice, and users who left the grid with some of their trips, move a few.
    assert max(leaves) <= 1.1 * min(leaves)


def test_a_release_of_weights_is_said_in_trips(tmp_path):
    matrix = DOMAIN.count(cabs(400), 10)
    made = Gravity(epsilon=2.0)
    release = made.release(matrix, rng=3)
    assert (release.unit, release.contribution_bound, release.weighted) == ("user", 10, True)
    # The root's own draw: 3 % of three quarters of epsilon, of scale 10 / that.
    assert release.total == pytest.approx(matrix.total / LATTICE, abs=12 * 10 / (2 * 0.75 * 0.03))
    assert {row.sensitivity for row in release.ledger} == {10}
    assert sum(row.epsilon for row in release.ledger) == pytest.approx(2.0)
    said = release.summary()
    assert "records in all by weight, 10 at most of each user, as many as" in said
    assert f"{release.people:,.0f} users would give" in said
    release.save(tmp_path / "cabs.parquet")
    loaded = Release.load(tmp_path / "cabs.parquet")
    assert loaded.summary() == said
    assert loaded.weighted
    assert loaded.ledger == release.ledger
    boxes = [[[0, 0, 4, 4], [1, 1, 5.5, 4]], [[np.nan] * 4, [0, 0, 3, 3]]]
    assert loaded.answer(boxes).value == pytest.approx(release.answer(boxes).value)
    assert (
        loaded.share(boxes).value.tolist() == (loaded.answer(boxes).value / loaded.total).tolist()
    )
    assert flows(release, 2).threshold == pytest.approx(3 * 10 / 2)
    found = simulated_sd(loaded, boxes, 3)
    # No count is known better than by one draw with the whole budget: sqrt(2) 10 / 2.
    assert found.least == pytest.approx(np.sqrt(2) * 10 / 2, rel=0.01)


def test_without_noise_shares_are_those_of_the_weights():
    matrix = DOMAIN.count(cabs(), 10)
    release = EUG(epsilon=1.0).release(matrix, rng=NoNoise())
    part = release.boxes()
    truth = exact(matrix, part, counted=True)
    assert release.answer(part).value == pytest.approx(truth)
    assert release.share(part).value == pytest.approx(truth / truth.sum())
    assert release.people == pytest.approx(matrix.people)
    parts = error_split(matrix, release, part)
    assert parts.noise == pytest.approx(0, abs=1e-9)
    assert parts.uniformity == pytest.approx(0, abs=1e-9)


def test_noise_is_of_the_size_of_the_bound_in_trips():
    matrix = DOMAIN.count(cabs(), 10)
    single = TripMatrix(matrix.cells, np.ones(len(matrix.cells), dtype=int), DOMAIN)
    wide = Mosaic(epsilon=0.1).release(matrix, rng=1).tree.precision.max()
    narrow = Mosaic(epsilon=0.1).release(single, rng=1).tree.precision.max()
    # Both spend nearly all of epsilon on some leaf; variances go with the bound squared, and the
    # noise of single trips is discrete: a thousandth of it less.
    assert narrow / wide == pytest.approx(100, rel=0.15)


def test_what_people_and_epsilon_buy_is_said_before():
    few, many = Worth(537, 1.0, "user"), Worth(357_561, 0.1, "point")
    assert (few.leaves, few.few) == (57, True)
    assert "537 users times epsilon 1 buy about 57 leaves" in few.sentence
    assert not many.few
    assert "trips times epsilon 0.1 buy about 3,764 leaves" in many.sentence
    matrix = DOMAIN.count(cabs(), 10)
    assert worth(matrix, 1).people == matrix.people
    refuses("above 0", worth, matrix, 0)


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="bound of whole records"):
        TripMatrix([[0, 0, 0, 0]], [1], DOMAIN, 10, "user", lattice=3)
    with pytest.raises(InputError, match="bound of whole records"):
        TripMatrix([[0, 0, 0, 0]], [1], DOMAIN, 10, "user", lattice=0)
    nobody = Gravity(epsilon=1).release(TripMatrix([], [], DOMAIN), rng=NoNoise())
    refuses("no shares", nobody.share, [[[np.nan] * 4] * 2])


def test_the_cabs_of_a_city_give_as_many_boxes_whatever_the_bound(real_data):
    """537 cabs: a leaf for each 7 to 10 units, at epsilon 1 and 10; the study has 55 and 600."""
    trips = read_trips(real_data("sf_cabspotting_trips.parquet"), user="cab")
    grid = Grid.around(*CABS, shape=64)
    for bound in (1, 10, 100):
        matrix = TripDomain([grid, grid]).count(trips, bound)
        for epsilon, least, most in [(1.0, 40, 110), (10.0, 450, 750)]:
            made = Gravity(epsilon=epsilon)
            found = [made.release(matrix, rng=seed).n_leaves for seed in range(2)]
            assert least <= np.mean(found) <= most


# What a release shows of the flows that are there, and what it shows that is not.


def trips(seed=0, records=3000):
    rng = np.random.default_rng(seed)
    return TripMatrix.from_coordinates(rng.binomial(8, 0.3, (records, 6)), [(9, 12)] * 3)


@pytest.mark.parametrize("pair", [(0, 1), (0, -1), (2, 1)])
def test_true_flows_are_what_the_boxes_hold(pair):
    matrix = trips()
    release = Gravity(epsilon=1).release(matrix, rng=1)
    private = flows(release, 4, pair)
    truth = exact_flows(matrix, private.origins, private.destinations, pair)
    places = [place % 3 for place in pair]
    boxes = zone_boxes(6, matrix.shape, private.origins, private.destinations, places)
    assert truth.ravel().tolist() == exact(matrix, matrix.domain.from_cells(boxes)).tolist()
    assert truth.sum() == matrix.total


def test_false_and_missed_flows_are_counted(monkeypatch):
    matrix = TripMatrix([[0, 0, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0]], [100, 40, 5], trips2().domain)
    release = Gravity(epsilon=0.1).release(matrix, rng=1)
    true = flows(release, 2)
    # Released: 0->0 as it is, 0->3 lost, 1->1 made up. 30 stand above the noise.
    value = np.zeros((4, 4))
    value[0, 0], value[1, 1] = 90.0, 50.0
    shown = Flows(**{**vars(true), "value": value.ravel()})
    monkeypatch.setattr(finding, "flows", lambda *_: shown)
    row = found(matrix, release, levels=(2,)).iloc[0]
    assert row.to_dict() == {
        "zones": 2, "flows": 16, "shown": 2, "shown_empty": 1, "large": 2, "missed": 1,
        "top": 3, "top_found": 1,
    }  # fmt: skip


def trips2():
    return TripMatrix.from_coordinates([[0, 0, 0, 0]], [2, 2])


def test_without_noise_nothing_is_made_up_and_little_missed():
    matrix = trips(records=20_000)
    table = found(matrix, Gravity(epsilon=10).release(matrix, rng=1))
    # Zones of 16 are finer than 9 rows of cells.
    assert table.zones.tolist() == [2, 4, 8]
    assert table.flows.tolist() == [16, 256, 4096]
    assert table.shown_empty[0] == table.missed[0] == 0
    assert table.top_found[0] == table.top[0]
    assert (table.missed <= table.large).all()


def test_other_trips_are_refused():
    release = Gravity(epsilon=1).release(trips2(), rng=1)
    with pytest.raises(InputError, match="other trips"):
        found(trips(), release)


@pytest.mark.slow
def test_flows_of_two_cities_are_found_as_in_the_study(real_data, reference_data):
    """Shares of false and missed flows by level, against the study's means of 4 seeds."""
    known = json.loads(reference_data("trips/flows.json").read_text())["discovery"]
    for name, file, around in [
        ("sf:o,d:64", "sf_cabspotting_trips", (-122.42, 37.77, 20_000.0)),
        ("san:o,d:64", "santiago_taxi_od", (-70.65, -33.46, 36_000.0)),
    ]:
        grid = Grid.around(*around, shape=64)
        matrix = TripDomain([grid, grid]).count(read_trips(real_data(f"{file}.parquet"), "o,d"))
        for epsilon in (0.1, 1.0):
            tables = [
                found(matrix, Gravity(epsilon=epsilon).release(matrix, rng=s)) for s in range(4)
            ]
            mean = sum(tables) / len(tables)
            for row in mean.itertuples():
                figures = known[f"{name}|{epsilon}|gravity|{int(row.zones)}"]
                # Counts of flows: both means have errors of about sqrt(n) / 2, so 3 sqrt(2) times
                # that, and one flow for small numbers.
                for here, there in [
                    (row.shown_empty, figures["fdr_empty"] * figures["shown"]),
                    (row.missed, figures["fnr"] * figures["true_ge"]),
                ]:
                    assert abs(here - there) <= 3 * np.sqrt(max(here, there, 1) / 2) + 1
                assert row.large == figures["true_ge"]
