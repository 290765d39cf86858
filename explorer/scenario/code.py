"""A scenario as Python: a script that draws what the screen shows and prints its answers."""

from __future__ import annotations

import json
from typing import Any

from explorer.cities.catalogue import find
from explorer.cities.countries import find as find_country
from explorer.cities.trip_sets import find as find_trips
from explorer.grid.grid import Grid
from explorer.scenario import area_code, people_code
from explorer.scenario.boxes import ANYWHERE
from explorer.scenario.choices import seeds_of_pair
from explorer.scenario.kinds import AREAS, MAPS, PEOPLE, TRIPS
from explorer.scenario.known import mechanism
from explorer.scenario.model import Scenario
from explorer.scenario.parts import AreaLooks, Choice, TripLooks
from explorer.scenario.polygons import Polygon

_LINE = 88
#: The variables that hold releases and answers, for one mechanism and for two.
_RELEASES = {1: ["release"], 2: ["release_a", "release_b"]}
_CATALOGUES = {
    MAPS.about: "cities import cities",
    PEOPLE.about: "cities import cities",
    TRIPS.about: "cities.trip_sets import trip_sets",
    AREAS.about: "cities.countries import countries",
}
_ANSWERS = {1: ["answers"], 2: ["answers_a", "answers_b"]}


def to_python(scenario: Scenario) -> str:
    """A script that prints private and true answers, those of the screen.

    Raises
    ------
    InputError
        For a city, trips or a country that are not in the catalogue here.
    """
    first = f"# {heading(scenario)}\n{imports(scenario)}"
    return "\n\n".join([first, load(scenario), draw(scenario), ask(scenario), _report(scenario)])


def heading(scenario: Scenario) -> str:
    """One line on what is shown; nothing in it ends a comment."""
    titles = " and ".join(mechanism(choice.key).title for choice in scenario.mechanisms)
    text = f"{titles} on {_title(scenario)} with epsilon {scenario.epsilon:g}"
    return " ".join((f"{scenario.title}: {text}" if scenario.title else text).split())


def _title(scenario: Scenario) -> str:
    if scenario.kind is AREAS:
        return find_country(scenario.city).title
    return find_trips(scenario.city).title if scenario.places else find(scenario.city).title


def imports(scenario: Scenario) -> str:
    """Import lines."""
    names = sorted({type(instance).__name__ for instance in scenario.made()})
    if asks(scenario):
        names.append("exact")
    lines = [
        f"from explorer import {', '.join(names)}",
        f"from explorer.{_CATALOGUES[scenario.kind.about]}",
    ]
    if scenario.seed is None:
        lines.append("from explorer.privacy.ledger import Ledger")
    if polygons(scenario):
        lines.append("from shapely import box, from_wkt")
    return "\n".join(lines)


def load(scenario: Scenario) -> str:
    """Lines that count the city, the trips or the country on the cells of the screen."""
    if scenario.kind is AREAS:
        return area_code.load(scenario, literal(scenario.city))
    if scenario.places:
        bound = scenario.contribution_bound
        limited = f", contribution_bound={bound}" if bound else ', per="record"'
        return (
            f"trips = trip_sets()[{literal(scenario.city)}]\n"
            f"places = {literal(scenario.places.split(','))}\n"
            f"domain = trips.domain(places, {scenario.side})\n"
            f"matrix = domain.count(trips.read(places){limited})  # exact counts: the curator's"
        )
    # A matrix has the cells it has.
    city = find(scenario.city)
    arguments = [] if city.is_matrix else [str(scenario.side)]
    if scenario.contribution_bound and city.has_users:
        arguments.append(f"contribution_bound={scenario.contribution_bound}")
    return (
        f"city = cities()[{literal(scenario.city)}]\n"
        f"points, matrix = city.load({', '.join(arguments)})  # exact counts: the curator's"
    )


def draw(scenario: Scenario) -> str:
    """Lines that draw each mechanism's map."""
    why = "# A preview: repeatable noise, not private."
    seeds = (0, 0) if scenario.seed is None else seeds_of_pair(scenario.seed, scenario.pair.apart)
    hows = [f"rng={seed}" for seed in seeds]
    if scenario.seed is None:
        why = "# A release: its noise is new each time, and each time it is booked."
        hows = ["ledger=Ledger()"] * 2
    lines = [why]
    # One mechanism has the first seed.
    for name, choice, how in zip(releases(scenario), scenario.mechanisms, hows, strict=False):
        lines.append(f"{name} = {_call(choice, scenario)}.release(matrix, {how})")
        look = scenario.look
        if isinstance(look, TripLooks) and look.spread != TripLooks.spread:
            lines.append(f"{name} = {name}.spread({literal(look.spread)})  # the same draws")
    return "\n".join(lines)


def ask(scenario: Scenario) -> str:
    """Lines that ask each release and the exact counts about the chosen area and the boxes."""
    parts = []
    if isinstance(scenario.look, AreaLooks):
        parts.append(area_code.choose(scenario, literal(scenario.look.area)))
    if asks(scenario):
        parts.append(_boxes(scenario))
    return "\n".join(parts)


def polygons(scenario: Scenario) -> bool:
    """Whether it asks about polygons."""
    return any(isinstance(box, Polygon) for box in scenario.boxes or ())


def asks(scenario: Scenario) -> bool:
    """Whether a script asks about boxes: that of a country need not have any."""
    return scenario.kind is not AREAS or bool(scenario.boxes)


def _boxes(scenario: Scenario) -> str:
    boxes = scenario.boxes_on(*_grids(scenario))
    rows = [literal(box.plain().get("edges")) for box in boxes]
    what = ["# West, south, east, north in the unit of the grid."]
    if polygons(scenario):
        # Boxes are polygons here: a question is of one kind.
        rows = [
            f"from_wkt({literal(box.wkt)})"
            if isinstance(box, Polygon)
            else f"box{literal(tuple(box.plain()['edges']))}"
            for box in boxes
        ]
    if scenario.places:
        what = ["# West, south, east, north of each place.", f'{ANYWHERE} = [float("nan")] * 4']
        rows = [row.replace(literal(ANYWHERE), ANYWHERE) for row in rows]
    lines = [
        *what,
        _list("boxes", rows),
        _list("names", [literal(box.name) for box in boxes]),
    ]
    for name, release in zip(answers(scenario), releases(scenario), strict=True):
        lines.append(f"{name} = {release}.answer(boxes)")
    # Areas know which records are theirs; a box asks about the cells of them all.
    cells = "matrix.national()" if scenario.kind is AREAS else "matrix"
    return "\n".join([*lines, f"true = exact({cells}, boxes)"])


def _grids(scenario: Scenario) -> tuple[Grid, ...]:
    """The grid of the city, or of every place of the trips."""
    if scenario.places:
        trips = find_trips(scenario.city)
        return tuple(trips.domain(scenario.places.split(","), scenario.side).grids)
    if scenario.kind is AREAS:
        # Boxes are examples nowhere: no grid is needed to tell where.
        return ()
    city = find(scenario.city)
    return (city.grid(None if city.is_matrix else scenario.side),)


def _report(scenario: Scenario) -> str:
    lines = [f"print({name})" for name in releases(scenario)]
    if scenario.kind is AREAS:
        lines += area_code.tell()
    if scenario.kind is PEOPLE:
        lines += people_code.tell()
    if not asks(scenario):
        return "\n".join(lines) + "\n"
    names = answers(scenario)
    lines.append("for i, name in enumerate(names):")
    if len(names) == 1:
        text = "private {answers.value[i]:,.1f} (noise +-{answers.sd[i]:,.1f})"
        if scenario.places and scenario.contribution_bound:
            # Bounded counts are none of trips: the screen shows shares.
            lines.append("    private = 100 * answers.value[i] / release.total")
            lines.append("    truth = 100 * true[i] * matrix.lattice / matrix.total")
            lines.append('    print(f"{name}: private {private:,.2f} %, true {truth:,.2f} %")')
            return "\n".join(lines) + "\n"
    else:
        text = "A {answers_a.value[i]:,.1f}, B {answers_b.value[i]:,.1f}"
    lines.append(f'    print(f"{{name}}: {text}, true {{true[i]:,.1f}}")')
    return "\n".join(lines) + "\n"


def releases(scenario: Scenario) -> list[str]:
    """The variables that hold the releases."""
    return _RELEASES[len(scenario.mechanisms)]


def answers(scenario: Scenario) -> list[str]:
    """The variables that hold the answers."""
    return _ANSWERS[len(scenario.mechanisms)]


def literal(value: Any) -> str:
    r"""A text, a number, a list, a tuple or a dict of them as Python writes it, with double quotes.

    >>> literal('a "b"'), literal([1, 2.5]), literal({"T": (None,)})
    ('"a \\"b\\""', '[1, 2.5]', '{"T": (None,)}')
    """
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(key)}: {literal(value[key])}' for key in value)}}}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _call(choice: Choice, scenario: Scenario) -> str:
    """The mechanism as it is made, such as ``HTF(epsilon=0.1, T=5)``."""
    settings = {"epsilon": scenario.epsilon, **dict(choice.settings)}
    if scenario.kind is PEOPLE:
        settings |= people_code.besides(scenario)
    text = ", ".join(f"{name}={literal(value)}" for name, value in settings.items())
    return f"{mechanism(choice.key).__name__}({text})"


def _list(name: str, items: list[str]) -> str:
    one = f"{name} = [{', '.join(items)}]"
    if len(one) <= _LINE:
        return one
    return "\n".join([f"{name} = [", *(f"    {item}," for item in items), "]"])
