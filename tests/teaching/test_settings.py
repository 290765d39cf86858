"""Settings of experiments: whatever arrives is checked, one sentence each."""

import pytest

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.teaching import EXPERIMENTS
from explorer.teaching.experiments import Neighbours, Ranking, Threshold
from explorer.teaching.places import cell_of, cells_of, on_map, part_of


@pytest.mark.parametrize("kind", EXPERIMENTS.values())
def test_defaults_pass_their_own_checks_and_copies_are_apart(kind) -> None:
    settings = kind()
    for name in kind.settings():
        assert kind.checked(name, getattr(settings, name)) == getattr(settings, name)
    copy = settings.copy()
    settings.put(epsilon=0.7) if "epsilon" in kind.settings() else settings.put(runs=200)
    assert copy.settings() == settings.settings()
    assert any(getattr(copy, name) != getattr(settings, name) for name in kind.settings())


@pytest.mark.parametrize(
    ("kind", "name", "value", "says"),
    # A whole number of 5000 digits cannot even name its test.
    ids=lambda value: "long" if isinstance(value, int) and value > 10**4000 else None,
    argvalues=[
        (Neighbours, "epsilon", -1, "Epsilon is -1: give a number, 0.000001 to 10"),
        (Neighbours, "epsilon", "much", "Epsilon is 'much'"),
        (Neighbours, "epsilon", 10**5000, "such a long number"),
        (Neighbours, "epsilon", True, "Epsilon is True"),
        (Neighbours, "mechanism", ["ug"], "choose one of"),
        (Neighbours, "runs", 400.0, "choose one of"),
        (Neighbours, "box", [0.1, 0.1, 0.9], "give 4 numbers from 0 to 1"),
        (Neighbours, "box", [0.5, 0.1, 0.5, 0.9], "empty or inside out"),
        (Neighbours, "place", [0.5, "x"], "give 2 numbers"),
        (Neighbours, "place", [10**5000, 0], "such a long number"),
        (Neighbours, "colour", 1, "There is no setting 'colour'"),
        (Threshold, "k", 2.5, "give a whole number, 2 to 1000"),
        (Ranking, "mechanisms", "ug", "give a list of names"),
        (Ranking, "mechanisms", ["ug", "ug"], "give 2 or more"),
    ],
)
def test_what_cannot_be_used_is_refused_and_changes_nothing(kind, name, value, says) -> None:
    settings = kind()
    before = settings.copy()
    with pytest.raises(InputError, match=says) as refused:
        settings.put(**{name: value})
    assert len(str(refused.value)) < 300
    assert all(getattr(settings, n) == getattr(before, n) for n in kind.settings())


def test_places_fit_every_grid() -> None:
    grid = Grid.around(2.35, 48.85, 8000, shape=(20, 40), name="x")
    assert cells_of((0, 0, 1, 1), grid).tolist() == [[0, 0], [20, 40]]
    # A box smaller than a cell is the cell.
    assert cells_of((0.999, 0.999, 1, 1), grid).tolist() == [[19, 39], [20, 40]]
    assert on_map((0, 0, 0.5, 0.5), grid).tolist() == pytest.approx([-4000, -4000, 0, 0])
    assert cell_of((1, 1), grid) == (19, 39)
    assert part_of(0, 4000, grid) == pytest.approx((0.5, 1.0))
    assert part_of(-9e9, 9e9, grid) == (0, 1)
