"""Scenarios and the state of a page: what a page opens with, and what is on it now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import panel as pn

from explorer.app.boxes.rectangles import Rectangles
from explorer.app.kit.browser import LEFT, SHARED
from explorer.app.kit.browser import OWN as OWN_LINK
from explorer.app.kit.navigation import Link
from explorer.cities.catalogue import cities
from explorer.cities.countries import countries
from explorer.cities.trip_sets import known_bound, known_places, trip_sets
from explorer.errors import InputError
from explorer.scenario import SHARING, Choice, Pair, Scenario, Sweep, carried, kind_of, row_of
from explorer.scenario.checks import shown
from explorer.scenario.choices import PairChoices, SweepChoices
from explorer.scenario.kinds import AREAS, TRIPS
from explorer.teaching import lessons

#: The part of an address that carries a scenario.
ARGUMENT = OWN_LINK
#: The parts of an address that name a lesson and the step inside it, counted from 1.
LESSON, LESSON_STEP = "lesson", "lesson_step"
#: The city key of what a visitor or a notebook brought along.
OWN = "yours"
_OWN = {
    "maps": "Points of your own are in no scenario: put the file into the data folder, where it "
    "becomes a city of the menu.",
    "areas": "Areas of your own are in no scenario, which names a country of the menu: save the "
    "boxes and the release instead.",
    "people": "Points of your own are in no scenario: put the file into the data folder, where it "
    "becomes a city of the menu.",
    "trips": "Trips of your own are in no scenario, which names trips of the menu: save the boxes "
    "and the release instead.",
}
#: Field of a sweep to its name in the state; the others are called alike.
_SWEEP = {"mechanisms": "chosen", "sides": "with_sides", "named": "with_named"}


@dataclass(frozen=True)
class Opening:
    """What a page begins with: the scenario of its address, else the one that it was given.

    ``damaged`` is the sentence about a link that could not be opened; the page then begins as it
    would without the link. ``elsewhere`` is the scenario of a link about other data than the
    page's: one about trips in the address of a page about a city. ``shared`` is what the pages of
    a tab have in common (see `explorer.scenario.carried`), and the scenario has been made of it;
    ``left`` where the visitor's own data stayed on the page before.
    """

    scenario: Scenario | None = None
    damaged: str = ""
    elsewhere: Scenario | None = None
    shared: Scenario | None = None
    left: bool = False

    @classmethod
    def of(cls, scenario: Scenario | None = None, page: str = "explore") -> Opening:
        """Look at the address of this session.

        Raises
        ------
        InputError
            Where ``scenario`` names a city that is not here, or is about other data than ``page``.
        """
        if scenario is not None:
            known_city(scenario)
            if scenario.kind is not kind_of(page):
                raise InputError(not_here(scenario))
        try:
            linked, shared = _sent(ARGUMENT), _sent(SHARED)
        except InputError as error:
            return cls(scenario, str(error))
        if linked is not None and linked.kind is not kind_of(page):
            return cls(scenario, not_here(linked), linked)
        if shared is None or not {page, shared.page} <= {*SHARING}:
            return cls(linked or scenario)
        left = LEFT in pn.state.session_args
        return cls(carried(shared, page, linked or scenario), shared=shared, left=left)

    def city(self, otherwise: Any) -> Any:
        """The key of the city to begin with."""
        return otherwise if self.scenario is None else self.scenario.city


def _sent(argument: str) -> Scenario | None:
    (text, *_) = pn.state.session_args.get(argument) or [b""]
    if not text:
        return None
    result = Scenario.from_link(text.decode("ascii", "replace"))
    known_city(result)
    return result


def known_city(scenario: Scenario) -> None:
    """Refuse a scenario of a city, of trips or of a country that are not here, in one sentence."""
    if scenario.kind is TRIPS:
        _known_trips(scenario)
        return
    what, keys = ("country", [*countries()]) if scenario.kind is AREAS else ("city", [*cities()])
    if scenario.city not in keys:
        its = "files" if scenario.kind is AREAS else "file"
        raise InputError(
            f"The scenario is about the {what} {shown(scenario.city)}, which is not here: put its "
            f"{its} into the data folder, or choose one of {', '.join(keys)}."
        )


def _known_trips(scenario: Scenario) -> None:
    """Refuse trips that are not here, or have no such places or no users."""
    catalogue = trip_sets()
    if scenario.city not in catalogue:
        raise InputError(
            f"The scenario is about the trips {shown(scenario.city)}, which are not here: put "
            f"their file into the data folder, or choose some of {', '.join(catalogue)}."
        )
    known_places(catalogue[scenario.city], scenario.places.split(","))
    known_bound(catalogue[scenario.city], scenario.contribution_bound)


def not_here(scenario: Scenario) -> str:
    """The sentence about a scenario that this page cannot show."""
    return (
        f"This scenario is of the page {scenario.page}: open it there, or start with "
        "dp-explorer serve --scenario."
    )


def way_to(scenario: Scenario, links: Sequence[Link], **more: Any) -> str:
    """The address of a scenario on the page that it is of; ``more`` goes along.

    Raises
    ------
    InputError
        For a page that this server or notebook does not have, or a lesson that is not here.
    """
    results = [link.address for link in links if link.key == scenario.page]
    if not results:
        raise InputError(not_here(scenario))
    known_lesson(scenario)
    # Learn opens by the lesson; the experiments there have settings of their own.
    what = of_lesson(scenario) or {ARGUMENT: scenario.to_link()}
    return f"./{results[0]}?{urlencode({**what, **more})}"


def of_lesson(scenario: Scenario | None) -> dict[str, str]:
    """What an address says of the lesson of a scenario; nothing of one without."""
    if scenario is None or not scenario.lesson:
        return {}
    step = {LESSON_STEP: str(scenario.lesson_step)} if scenario.lesson_step else {}
    return {LESSON: scenario.lesson, **step}


def argument(name: str) -> str:
    """What the address of this session says under a name, "" where it says nothing."""
    value = (pn.state.session_args.get(name) or [b""])[0]
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def known_lesson(scenario: Scenario) -> None:
    """Refuse a scenario of a lesson that is not here, in one sentence."""
    names = [name for lesson in lessons()[0] for name in (lesson.key, lesson.experiment)]
    if scenario.lesson and scenario.lesson not in names:
        raise InputError(
            f"The scenario is of the lesson {shown(scenario.lesson)}, which is not here: choose "
            f"one of {', '.join(dict.fromkeys(names))}."
        )


def take(state: Any, scenario: Scenario) -> None:
    """Choose everything that ``scenario`` says except boxes and page.

    Parameters
    ----------
    state : the choices of a page of the scenario's kind
    scenario : Scenario
    """
    # One mechanism leaves B as it is, and of two a page for one takes the first.
    for side, mechanism in zip(state.sides, scenario.made(), strict=False):
        side.take(mechanism)
    # The seed comes last: where noise is not kept the same, each change before has taken another.
    state.put(city=scenario.city, **_plain(state, scenario))


def present(
    page: str, state: Any, rectangles: Rectangles, released: bool = False, instead: str = ""
) -> Scenario:
    """The scenario of what is on the page now.

    Parameters
    ----------
    page : one of `explorer.scenario.PAGES`
    state : the choices of the page
    rectangles : the boxes on it
    released : whether a drawn release is on the screen, whose noise no scenario holds
    instead : the city that represents own data, with its example boxes; without it they are refused

    Raises
    ------
    InputError
        For a city that exists in this session only.
    """
    kind, is_own = kind_of(page), state.city == OWN
    if not instead:
        refuse_own(state.city, page)
    boxes: tuple[Any, ...] | None = tuple(
        row_of(*row)
        for row in zip(rectangles.boxes, rectangles.names, rectangles.shapes, strict=True)
    )
    if is_own or boxes == kind.examples(*rectangles.grids):
        boxes = None
    sweep = Sweep()
    if _sweeps(state):
        sweep = Sweep(**{n: getattr(state, _SWEEP.get(n, n)) for n in Sweep.declared})
    pair = Pair()
    if isinstance(state, PairChoices):
        pair = Pair(**{name: getattr(state, name) for name in Pair.declared})
    return Scenario(
        page=page,
        city=instead if is_own else state.city,
        places=state.places if kind.default("places") else "",
        side=state.side,
        contribution_bound=state.bound,
        mechanisms=tuple(Choice.read(side.instance()) for side in state.sides),
        epsilon=state.epsilon,
        seed=None if released else state.seed,
        boxes=boxes,
        look=kind.look(**{name: getattr(state, name) for name in kind.look.declared}),
        sweep=sweep,
        pair=pair,
    )


def refuse_own(city: str, page: str) -> None:
    """Refuse the key of a city that exists in this session only."""
    if city == OWN:
        raise InputError(_OWN[kind_of(page).about])


def _plain(state: Any, scenario: Scenario) -> dict[str, Any]:
    result: dict[str, Any] = {"side": scenario.side, "bound": scenario.contribution_bound}
    result |= {name: getattr(scenario.look, name) for name in scenario.kind.look.declared}
    if scenario.places:
        result["places"] = scenario.places
    if _sweeps(state) and scenario.page == "compare":
        result |= {_SWEEP.get(n, n): getattr(scenario.sweep, n) for n in Sweep.declared}
        result["chosen"] = list(result["chosen"])
    if isinstance(state, PairChoices) and scenario.page == "compare":
        result |= {name: getattr(scenario.pair, name) for name in Pair.declared}
    if scenario.seed is not None:
        result["seed"] = scenario.seed
    return result


def _sweeps(state: Any) -> bool:
    """Whether the page has error curves, so that a scenario tells what they are asked for."""
    return isinstance(state, SweepChoices)
