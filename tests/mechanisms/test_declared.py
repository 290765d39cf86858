"""Parameters are declared once and seen in signature, docstring and equality."""

from __future__ import annotations

import inspect

import numpy as np
import param
import pytest

from explorer import Country, Federated, mechanism
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.mechanisms import AG, HTF, UG, Identity, Mechanism, all_mechanisms, trip_mechanisms
from explorer.mechanisms.declared import documented, kind_of
from explorer.mechanisms.forecast import _town
from explorer.points.matrix import FrequencyMatrix
from explorer.scenario.parts import area_mechanisms
from explorer.testing import mechanism_checks
from tests.helpers import card_of

KINDS = [*{**all_mechanisms(), **trip_mechanisms()}.values(), Country, Federated]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.key)
def test_signature_and_docstring_name_every_parameter(kind: type) -> None:
    names = ["epsilon", *kind.tunables()]
    signature = inspect.signature(kind)
    assert list(signature.parameters) == names
    assert all(each.default == kind.param[n].default for n, each in signature.parameters.items())
    lines = inspect.getdoc(kind).splitlines()
    assert lines[2:4] == ["Parameters", "----------"]
    for name in names:
        assert any(line.startswith(f"{name} : ") for line in lines), name
    assert kind.param.epsilon.doc.split()[0] in inspect.getdoc(kind)


def test_maps_of_distributed_people_refuse_bad_values() -> None:
    checks = {check.name: check for check in mechanism_checks(Federated)}
    checks["it refuses bad values in a sentence"]()


def test_epsilon_may_stand_first() -> None:
    assert HTF(0.5) == HTF(epsilon=0.5)
    assert Country(0.7).epsilon == 0.7
    with pytest.raises(InputError, match="give epsilon once"):
        HTF(0.5, epsilon=1)
    with pytest.raises(InputError, match="Epsilon is 'small'"):
        HTF("small")
    with pytest.raises(TypeError):
        HTF(0.5, 3)


def test_equal_settings_are_equal() -> None:
    assert HTF(0.5, T=2) == HTF(0.5, T=2)
    assert hash(HTF(0.5, T=2)) == hash(HTF(0.5, T=2))
    assert len({HTF(0.5), HTF(0.5), HTF(0.6), UG(0.5)}) == 3
    assert HTF(0.5) != HTF(0.5, T=2)
    assert HTF(0.5) != UG(0.5)
    assert HTF(0.5) != "HTF"
    assert UG(1).with_(epsilon=2) == UG(2)


def test_a_docstring_keeps_its_first_paragraph_and_its_rest() -> None:
    made = documented("What it does.\n\n    How.", [param.Number(0.5, bounds=(0, 1), doc="Part.")])
    first, rest = made.split("\n\nNotes\n-----\n")
    assert first.startswith("What it does.\n\nParameters\n----------\n")
    said, raised = first.split("\n\nRaises\n------\n")
    assert said.endswith(": float, 0 to 1, default 0.5\n    Part.")
    assert raised.startswith("InputError\n    ")
    assert rest == "How."
    assert kind_of(param.Boolean(True)) == "bool"
    assert (
        kind_of(param.Integer(None, bounds=(0, 2000), allow_None=True)) == "int, 0 to 2,000 or None"
    )


@pytest.mark.parametrize("typed", ["HTF", "Htf", "htf"])
def test_names_are_found_in_any_case(typed: str) -> None:
    assert mechanism(typed) is HTF
    with pytest.raises(InputError, match="did you mean 'htf'"):
        mechanism("HFT")


GRID = Grid.around(13.4, 52.5, "20km", shape=(64, 48))


def test_where_the_partition_is_public_it_is_that_of_any_data() -> None:
    found = Identity(epsilon=0.5).summarize(GRID, 1e4).to_frame()
    cells = 64 * 48
    # Discrete Laplace noise of scale 1 / epsilon: variance 1 / (2 sinh(epsilon / 2)^2).
    sd = np.sqrt(0.5) / np.sinh(0.25)
    for _, row in found.iterrows():
        assert row.tolist() == pytest.approx(
            [cells, sd, sd * np.sqrt(cells / 4), sd * np.sqrt(cells)], rel=1e-9
        )


def test_it_is_what_a_release_of_such_data_has() -> None:
    rng = np.random.default_rng(5)
    town = _town(GRID)
    matrix = FrequencyMatrix.from_array(rng.poisson(town / town.sum() * 200_000), GRID)
    for made in (AG(epsilon=1), HTF(epsilon=1), UG(epsilon=1)):
        row = made.summarize(GRID, 200_000).to_frame().loc["one town"]
        seeds = [made.release(matrix, rng=seed) for seed in range(8)]
        leaves = [each.n_leaves for each in seeds]
        # Of eight previews and three: five standard errors of the difference of the means.
        width = 5 * np.std(leaves, ddof=1) * np.sqrt(1 / 8 + 1 / 3)
        assert abs(row.leaves - np.mean(leaves)) <= width + 0.02 * np.mean(leaves), made


@pytest.mark.parametrize("kind", all_mechanisms().values(), ids=all_mechanisms())
def test_every_mechanism_of_maps_has_an_outlook(kind: type[Mechanism]) -> None:
    before, after = (kind(epsilon=e).summarize(GRID, 1e5).to_frame() for e in (0.1, 1.0))
    assert (after.sd_of_all < before.sd_of_all).all()
    assert (before >= 0).all(axis=None)
    assert before.leaves.min() >= 1


def test_users_cost_their_bound_and_nothing_is_random() -> None:
    one, ten = (Identity(1.0).summarize(GRID, 1e4, contribution_bound=k) for k in (1, 10))
    assert ten.to_frame().sd_of_leaf.iloc[0] > 9 * one.to_frame().sd_of_leaf.iloc[0]
    again = HTF(1.0).summarize(GRID, 1e4)
    assert again.to_frame().equals(HTF(1.0).summarize(GRID, 1e4).to_frame())
    assert "made-up records" in card_of(again)
    assert "one town" in repr(again)


@pytest.mark.parametrize("wrong", [0, True, "1e6", float("nan"), 2e9])
def test_another_number_is_refused_in_one_sentence(wrong: object) -> None:
    with pytest.raises(InputError, match="records to expect"):
        HTF().summarize(GRID, wrong)  # type: ignore[arg-type]


def test_what_is_no_extent_and_what_takes_no_map_are_refused() -> None:
    with pytest.raises(InputError, match="public extent"):
        HTF().summarize("berlin")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="counts of areas"):
        area_mechanisms()["country"]().summarize(GRID)
