"""The checks find what they are for: each fails on a mechanism that breaks just that promise."""

import copy

import numpy as np
import param
import pytest

from explorer import Identity, InputError, Uniform
from explorer.mechanisms import Mechanism, all_mechanisms, register
from explorer.releases import inference
from explorer.testing import mechanism_checks, registered
from explorer.testing.counts import counted, folded, odd_counts, towns_of


class Half(Mechanism):
    """The two halves of the map, counted; a mechanism as a newcomer writes it."""

    key, title, summary = "half", "Half", "The northern and the southern half."
    paper = "tests"

    parts = param.Integer(default=2, bounds=(1, 4), label="Parts", doc="Strips of the map.")

    def plan(self, curator):
        """One count for each strip."""
        strips = curator.open().grid(np.array([self.parts, 1]))
        curator.count(strips, curator.units, "strips")
        return inference.leaves(curator.transcript(), ["strips"])


class Nameless(Half):
    summary = ""


class Undescribed(Half):
    """Without words for its parameter."""

    parts = param.Integer(default=2, bounds=(1, 4), label="Parts", doc="")


class Forgetful(Half):
    def settings(self):
        """Without what was set."""
        return {"parts": 2, "more": 1}


class Meddling(Half):
    def with_(self, **changes):
        """Always the defaults."""
        return type(self)()


class Gullible(Half):
    @classmethod
    def _checked(cls, name, value):
        return 2 if name == "parts" else super()._checked(name, value)


class Mumbling(Half):
    @classmethod
    def _checked(cls, name, value):
        try:
            return super()._checked(name, value)
        except InputError:
            raise InputError("no") from None


class Thrifty(Half):
    def plan(self, curator):
        """Leaves half of the budget unspent."""
        strips = curator.open().grid(np.array([self.parts, 1]))
        curator.count(strips, curator.units // 2, "strips")
        return inference.leaves(curator.transcript(), ["strips"])


class Restless(Half):
    def release(self, matrix, rng=None, progress=None, ledger=None):
        """Takes no notice of the seed."""
        seed = None if rng is None else int(np.random.default_rng().integers(2**40))
        return super().release(matrix, seed if isinstance(rng, int) else rng, progress, ledger)


class Stuck(Half):
    def release(self, matrix, rng=None, progress=None, ledger=None):
        """One seed for all."""
        return super().release(matrix, 1 if isinstance(rng, int) else rng, progress, ledger)


class Pretending(Half):
    def release(self, matrix, rng=None, progress=None, ledger=None):
        """A release from a fixed seed."""
        made = super().release(matrix, 1 if rng is None else rng, progress, ledger)
        return made if isinstance(rng, int) else _with(made, preview=False)


class Gapped(Half):
    def release(self, matrix, rng=None, progress=None, ledger=None):
        """Loses a row on the way."""
        made = super().release(matrix, rng, progress, ledger)
        lower = made.tree.lower.copy()
        lower[-1, 0] = min(lower[-1, 0] + 1, made.tree.upper[-1, 0])
        return _with(made, tree=_with(made.tree, lower=lower))


class Peeping(Half):
    def release(self, matrix, rng=None, progress=None, ledger=None):
        """Adds a hundredth of the exact total to every count."""
        made = super().release(matrix, rng, progress, ledger)
        total = int(getattr(matrix, "total", np.sum(matrix)))
        return _with(made, tree=_with(made.tree, value=made.tree.value + total / 100))


class Hoarding(Half):
    def release(self, matrix, rng=None, progress=None, ledger=None):
        """Keeps the counts in its pocket."""
        from explorer import FrequencyMatrix

        made = super().release(matrix, rng, progress, ledger)
        held = FrequencyMatrix.from_array(np.zeros((1, 1)))
        return _with(made, facts={**made.facts, "held": held})


class Skewed(Half):
    def plan(self, curator):
        """Counts twice as many."""
        estimate = super().plan(curator)
        return _with(estimate, value=2 * estimate.value)


class Disguised(Half):
    def release(self, matrix, rng=None, progress=None, ledger=None):
        """Says that Uniform made it."""
        return _with(super().release(matrix, rng, progress, ledger), mechanism=Uniform.key)


class Overdrawn(Half):
    def plan(self, curator):
        """Writes into the books what it owes."""
        root = curator.open()
        strips = root.grid(np.array([self.parts, 1]))
        curator.count(strips, curator.units, "strips")
        strips.book._spent[:] = 0
        curator.count(strips, curator.units, "again")
        return inference.leaves(curator.transcript(), ["again"])


class Trips(Mechanism):
    """Every pair of two coarse places, counted: nothing for maps."""

    key, title, summary = "pairs", "Pairs", "Trips between coarse places."
    paper, dimensions = "tests", (4,)

    parts = param.Integer(default=2, bounds=(1, 4), label="Parts", doc="Along each axis.")

    def plan(self, curator):
        """One count for each pair."""
        root = curator.open()
        boxes = root.grid(np.minimum(root.shape, self.parts))
        curator.count(boxes, curator.units, "pairs")
        return inference.leaves(curator.transcript(), ["pairs"])


class OneAxis(Uniform):
    """The total of a line."""

    key = "line"
    dimensions = (1, 3)


class ThreeAxes(Identity):
    """Every cell of a cube."""

    key = "cube"
    dimensions = (3,)


class ThriftyTrips(Trips):
    """Spends too little."""

    def plan(self, curator):
        """Leaves half of the budget unspent."""
        root = curator.open()
        curator.count(root, curator.units // 2, "pairs")
        return inference.leaves(curator.transcript(), ["pairs"])


class Stumbling(Half):
    """Fails."""

    def plan(self, curator):
        """Looks up what is not there."""
        return {}[curator.units]


class Nowhere(Half):
    """Takes no counts at all."""

    dimensions = ()


def _with(frozen, **changes):
    """A copy of a frozen object with other values in some fields."""
    other = copy.copy(frozen)
    for name, value in changes.items():
        object.__setattr__(other, name, value)
    return other


@pytest.mark.parametrize("check", mechanism_checks(Half, Trips, OneAxis, ThreeAxes), ids=str)
def test_a_newcomers_mechanism_passes(check):
    check()


def failing(kind):
    """Names of the checks that fail; any error but an AssertionError is one of this test."""
    found = set()
    for check in mechanism_checks(kind):
        try:
            check()
        except AssertionError:
            found.add(check.name)
    return found


def test_all_that_fails_of_a_mechanism_of_trips_is_what_it_breaks():
    assert failing(ThriftyTrips) == {
        "every path spends exactly epsilon",
        "an audit finds no breach",
    }


@pytest.mark.parametrize("kind", [Stumbling, Nowhere])
def test_whatever_goes_wrong_a_check_raises_an_assertion_error(kind):
    plain = {"it keeps its settings", "it refuses bad values in a sentence"}
    everything = {check.name for check in mechanism_checks(kind)} - plain
    declares = {"it declares its names and parameters"}
    assert failing(kind) == everything - (declares if kind is Stumbling else set())
    (last,) = (each for each in mechanism_checks(kind) if each.name.startswith("every path"))
    words = "it raises KeyError" if kind is Stumbling else "it takes counts of no number"
    with pytest.raises(AssertionError, match=f"^{kind.__name__}: {last.name}: {words}"):
        last()


def test_counts_keep_their_cells_in_other_dimensions():
    counts = np.random.default_rng(0).poisson(0.7, (5, 7))
    for dimensions in range(1, 7):
        wide = folded(counts, dimensions)
        assert wide.ndim == dimensions
        assert wide.reshape(-1)[: counts.size].tolist() == counts.reshape(-1).tolist()
        assert wide.sum() == counts.sum()
        held = counted(wide, 3)
        assert (held.domain.shape, held.contribution_bound) == (wide.shape, 3)
        cells = np.argwhere(wide >= 0)
        assert held.count(cells, cells + 1).tolist() == wide.reshape(-1).tolist()
        assert {array.ndim for array in odd_counts(dimensions)} == {dimensions}
        people = towns_of(dimensions, (20, 25), 3000)
        assert 2000 < people.total <= 3000


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        (Nameless, "it declares its names and parameters", "it has no summary"),
        (Undescribed, "it declares its names and parameters", "parts has no label or no doc"),
        (Forgetful, "it keeps its settings", r"settings\(\) are not its tunables"),
        (Meddling, "it keeps its settings", "leaves epsilon as it was"),
        (Gullible, "it keeps its settings", "parts does not keep 1"),
        (Gullible, "it refuses bad values in a sentence", "parts = '0.1' is taken"),
        (Mumbling, "it refuses bad values in a sentence", "does not name it"),
        (Thrifty, "every path spends exactly epsilon", "units unspent"),
        (Overdrawn, "every path spends exactly epsilon", "a path spends"),
        (Restless, "a seed repeats and another does not", "same seed gives another map"),
        (Stuck, "a seed repeats and another does not", "another seed gives the same map"),
        (Pretending, "release-grade noise is new every time", "four releases are alike"),
        (Gapped, "leaves tile odd maps", "do not tile"),
        (Peeping, "no exact count is in the release", "no measurement has protected"),
        (Hoarding, "no exact count is in the release", "an object of exact counts"),
        (Skewed, "without noise it is exact", "not the true ones"),
        (Disguised, "a release says what it was made by", "names another mechanism"),
        (Peeping, "an audit finds no breach", "differ"),
        (Overdrawn, "an audit finds no breach", "the books show"),
    ],
)
def test_a_broken_promise_is_found(kind, name, words):
    (check,) = (each for each in mechanism_checks(kind) if each.name == name)
    with pytest.raises(AssertionError, match=f"^{kind.__name__}: {name}: .*{words}"):
        check()


def test_a_registered_mechanism_is_there_for_as_long_as_the_block_lasts():
    with registered(Half) as kind:
        assert all_mechanisms()["half"] is kind
        assert register(Half) is Half
        with pytest.raises(InputError, match="There is a mechanism 'half' already"):
            register(type("Other", (Half,), {}))
    assert "half" not in all_mechanisms()


def test_what_is_no_mechanism_is_not_registered():
    with pytest.raises(InputError, match="The key of Half is 'No Key'"):
        register(type("Half", (Half,), {"key": "No Key"}))
    with pytest.raises(InputError, match="has no title or no summary"):
        register(Nameless)
    assert "half" not in all_mechanisms()
