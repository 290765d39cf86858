"""Scenarios and the state of a page: what a page opens with, and what is on it now."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import panel as pn

from explorer.app.boxes.rectangles import Rectangles
from explorer.app.state.explore import ExploreState
from explorer.cities.catalogue import cities
from explorer.errors import InputError
from explorer.scenario import Box, Choice, Looks, Scenario, Sweep, example_boxes
from explorer.scenario.checks import shown
from explorer.scenario.choices import SweepChoices
from explorer.teaching import lessons

#: The part of an address that carries a scenario.
ARGUMENT = "s"
#: The city key of what a visitor or a notebook brought along.
OWN = "yours"
#: Field of a sweep to its name in the state; the others are called alike.
_SWEEP = {"mechanisms": "chosen"}


@dataclass(frozen=True)
class Opening:
    """What a page begins with: the scenario of its address, else the one that it was given.

    ``damaged`` is the sentence about a link that could not be opened; the page then begins as it
    would without the link.
    """

    scenario: Scenario | None = None
    damaged: str = ""

    @classmethod
    def of(cls, given: Scenario | None = None) -> Opening:
        """Look at the address of this session.

        Raises
        ------
        InputError
            Where ``given`` names a city that is not here.
        """
        if given is not None:
            known_city(given)
        sent = pn.state.session_args.get(ARGUMENT) or [b""]
        if not sent[0]:
            return cls(given)
        try:
            found = Scenario.from_link(sent[0].decode("ascii", "replace"))
            known_city(found)
        except InputError as error:
            return cls(given, str(error))
        return cls(found)

    def city(self, otherwise: Any) -> Any:
        """The key of the city to begin with."""
        return otherwise if self.scenario is None else self.scenario.city


def known_city(scenario: Scenario) -> None:
    """Refuse a scenario of a city that is not here, in one sentence."""
    known = cities()
    if scenario.city not in known:
        raise InputError(
            f"The scenario is about the city {shown(scenario.city)}, which is not here: put its "
            f"file into the data folder, or choose one of {', '.join(known)}."
        )


def known_lesson(scenario: Scenario) -> None:
    """Refuse a scenario of a lesson that is not here, in one sentence."""
    known = [name for each in lessons()[0] for name in (each.key, each.experiment)]
    if scenario.lesson and scenario.lesson not in known:
        raise InputError(
            f"The scenario is of the lesson {shown(scenario.lesson)}, which is not here: choose "
            f"one of {', '.join(dict.fromkeys(known))}."
        )


def take(state: ExploreState, scenario: Scenario) -> None:
    """Choose everything that ``scenario`` says; boxes and page apart."""
    # One mechanism leaves B as it is, and of two a page for one takes the first.
    for side, made in zip(state.sides, scenario.made(), strict=False):
        side.take(made)
    # The seed comes last: where noise is not kept the same, each change before has taken another.
    state.put(city=scenario.city, **_plain(state, scenario))


def present(
    page: str, state: ExploreState, rectangles: Rectangles, released: bool = False
) -> Scenario:
    """The scenario of what is on the page now.

    Parameters
    ----------
    page : one of `explorer.scenario.PAGES`
    released : whether a drawn release is on the screen, whose noise no scenario holds

    Raises
    ------
    InputError
        For a city that exists in this session only.
    """
    if state.city == OWN:
        raise InputError(
            "Points of your own are in no scenario: put the file into the data folder, where it "
            "becomes a city of the menu."
        )
    boxes: tuple[Box, ...] | None = tuple(
        Box.read({"name": name, "edges": edges})
        for edges, name in zip(rectangles.boxes.tolist(), rectangles.names, strict=True)
    )
    if boxes == example_boxes(rectangles.grid):
        boxes = None
    sweep = Sweep()
    if _sweeps(state):
        sweep = Sweep(**{n: getattr(state, _SWEEP.get(n, n)) for n in _names(Sweep)})
    return Scenario(
        page=page,
        city=state.city,
        side=state.side,
        contribution_bound=state.bound,
        mechanisms=tuple(Choice.read(side.instance()) for side in state.sides),
        epsilon=state.epsilon,
        seed=None if released else state.seed,
        boxes=boxes,
        look=Looks(**{name: getattr(state, name) for name in _names(Looks)}),
        sweep=sweep,
    )


def _plain(state: ExploreState, scenario: Scenario) -> dict[str, Any]:
    """Choices besides city, mechanisms and epsilon by their names in the state."""
    found: dict[str, Any] = {"side": scenario.side, "bound": scenario.contribution_bound}
    found |= {name: getattr(scenario.look, name) for name in _names(Looks)}
    if _sweeps(state) and scenario.page == "compare":
        found |= {_SWEEP.get(n, n): getattr(scenario.sweep, n) for n in _names(Sweep)}
        found["chosen"] = list(found["chosen"])
    if scenario.seed is not None:
        found["seed"] = scenario.seed
    return found


def _sweeps(state: ExploreState) -> bool:
    """Whether the page has error curves, so that a scenario tells what they are asked for."""
    return isinstance(state, SweepChoices)


def _names(part: type) -> list[str]:
    return [each.name for each in fields(part)]
