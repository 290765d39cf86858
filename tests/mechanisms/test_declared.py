"""Parameters are declared once and seen in signature, docstring and equality."""

from __future__ import annotations

import inspect

import param
import pytest

from explorer import HTF, UG, Country, Federated, InputError, mechanism
from explorer.mechanisms import all_mechanisms, trip_mechanisms
from explorer.mechanisms.declared import documented, kind_of

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
