"""A scenario as Python: a script or a notebook that draws the screen and prints its answers."""

from __future__ import annotations

import json
import pprint
import re
from typing import Any

from explorer.cities.catalogue import find
from explorer.cities.countries import find as find_country
from explorer.cities.trip_sets import find as find_trips
from explorer.grid.grid import Grid
from explorer.scenario.boxes import ANYWHERE, Polygon
from explorer.scenario.choices import seeds_of_pair
from explorer.scenario.kinds import AREAS, MAPS, PEOPLE, TRIPS
from explorer.scenario.model import Scenario
from explorer.scenario.parts import Choice, TripLooks, mechanism

_LINE = 88
#: What begins markup, a link, code or a formula in a cell of text.
_MARKUP = re.compile(r"[\\<>\[\]`$]")
_CATALOGUES = {
    MAPS.about: "cities import cities",
    PEOPLE.about: "cities import cities",
    TRIPS.about: "cities.trip_sets import trip_sets",
    AREAS.about: "cities.countries import countries",
}


def to_python(scenario: Scenario) -> str:
    """A script that prints private and true answers, those of the screen.

    Raises
    ------
    InputError
        For a city, trips or a country that are not in the catalogue here.
    """
    first = f"# {_heading(scenario)}\n{_imports(scenario)}"
    return "\n\n".join([first, _load(scenario), _draw(scenario), _ask(scenario), _report(scenario)])


def to_notebook(scenario: Scenario) -> str:
    """The notebook as JSON (nbformat 4.5), without output; the same text every time."""
    words = f"# {_plain(_heading(scenario))}"
    if scenario.about:
        words += f"\n\n{_plain(scenario.about)}"
    if scenario.seed is None:
        words += (
            "\n\nEach run draws a release anew and books its epsilon. The noise of the release "
            "that was on the screen is in no file but its own."
        )
    cells = [
        ("markdown", words),
        ("code", f"import pandas as pd\n\n{_imports(scenario)}\n\n{_load(scenario)}"),
        ("code", f"{_draw(scenario)}\n{releases(scenario)[0]}"),
        ("code", "\n".join([_ask(scenario), *_table(scenario)])),
    ]
    if scenario.kind is AREAS:
        # Of the areas of all levels.
        table = 'table = release.areas().drop(columns="geometry")\n'
        cells.append(("code", f"{table}pd.DataFrame(table).assign(true=matrix.by_node).round(1)"))
    if scenario.kind is PEOPLE:
        cells.append(("code", "release.rounds"))
    cells.append(("markdown", "## The screen\n\nDrag a box on a map, slide epsilon."))
    cells.append(("code", _screen(scenario)))
    notebook = {
        "cells": [_cell(number, *cell) for number, cell in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _heading(scenario: Scenario) -> str:
    """One line on what is shown; nothing in it ends a comment."""
    titles = " and ".join(mechanism(choice.key).title for choice in scenario.mechanisms)
    of_kind: dict[str, Any] = {AREAS.about: find_country, TRIPS.about: find_trips}
    city = of_kind.get(scenario.kind.about, find)(scenario.city).title
    text = f"{titles} on {city} with epsilon {scenario.epsilon:g}"
    return " ".join((f"{scenario.title}: {text}" if scenario.title else text).split())


def _imports(scenario: Scenario) -> str:
    names = sorted({type(instance).__name__ for instance in scenario.made()})
    if _asks(scenario):
        names.append("exact")
    lines = [
        f"from explorer import {', '.join(names)}",
        f"from explorer.{_CATALOGUES[scenario.kind.about]}",
    ]
    if scenario.seed is None:
        lines.append("from explorer.privacy.ledger import Ledger")
    if _polygons(scenario):
        lines.append("from shapely import box, from_wkt")
    return "\n".join(lines)


def _load(scenario: Scenario) -> str:
    """Lines that count the city, the trips or the country on the cells of the screen."""
    key, bound = literal(scenario.city), scenario.contribution_bound
    limited = f", contribution_bound={bound}" if bound else ', per="record"'
    if scenario.kind is AREAS:
        find_country(scenario.city)
        return (
            f"country = countries()[{key}]\n"
            "areas = country.areas()\n"
            "# Exact counts: the curator's.\n"
            f"matrix = areas.count(country.points(), {scenario.side}{limited})"
        )
    if scenario.places:
        return (
            f"trips = trip_sets()[{key}]\n"
            f"places = {literal(scenario.places.split(','))}\n"
            f"domain = trips.domain(places, {scenario.side})\n"
            f"matrix = domain.count(trips.read(places){limited})  # exact counts: the curator's"
        )
    # A matrix has the cells it has.
    city = find(scenario.city)
    arguments = [] if city.is_matrix else [str(scenario.side)]
    if bound and city.has_users:
        arguments.append(f"contribution_bound={bound}")
    return (
        f"city = cities()[{key}]\n"
        f"points, matrix = city.load({', '.join(arguments)})  # exact counts: the curator's"
    )


def _draw(scenario: Scenario) -> str:
    """Lines that draw each mechanism's map."""
    if scenario.seed is None:
        why = "# A release: its noise is new each time, and each time it is booked."
        hows = ["ledger=Ledger()"] * 2
    else:
        why = "# A preview: repeatable noise, not private."
        hows = [f"rng={seed}" for seed in seeds_of_pair(scenario.seed, scenario.pair.apart)]
    lines, look = [why], scenario.look
    # One mechanism has the first seed.
    for name, choice, how in zip(releases(scenario), scenario.mechanisms, hows, strict=False):
        lines.append(f"{name} = {_call(choice, scenario)}.release(matrix, {how})")
        if isinstance(look, TripLooks) and look.spread != TripLooks().spread:
            lines.append(f"{name} = {name}.spread({literal(look.spread)})  # the same draws")
    return "\n".join(lines)


def _call(choice: Choice, scenario: Scenario) -> str:
    """The mechanism as it is made, such as ``HTF(epsilon=0.1, T=5)``."""
    settings = {"epsilon": scenario.epsilon, **dict(choice.settings)}
    if scenario.kind is PEOPLE:
        federated: Any = scenario.made()[0]
        if scenario.seed is None:
            # A release says how many people are declared, as the field of the page does.
            settings["people"] = federated.people
        elif federated.bits is None:
            # A preview draws the noise of all shares at once; bits that someone chose are
            # simulated shard by shard, as the mechanism does by itself.
            settings["mode"] = "summed"
    text = ", ".join(f"{name}={literal(value)}" for name, value in settings.items())
    return f"{mechanism(choice.key).__name__}({text})"


def _ask(scenario: Scenario) -> str:
    """Lines that ask each release and the exact counts about the chosen area and the boxes."""
    lines = []
    if scenario.kind is AREAS:
        lines += [
            "# Of every area, in the order of areas.paths.",
            "counts, _, sd = release.figures()",
        ]
        if scenario.look.area is None:
            lines += [
                "# The lowest area with most private records.",
                "node = max(areas.lowest, key=lambda each: counts[each])",
            ]
        else:
            lines.append(f"node = areas.paths.index({literal(scenario.look.area)})")
    return "\n".join(lines + _boxes(scenario) if _asks(scenario) else lines)


def _polygons(scenario: Scenario) -> bool:
    return any(isinstance(box, Polygon) for box in scenario.boxes or ())


def _asks(scenario: Scenario) -> bool:
    """Whether a script asks about boxes: that of a country need not have any."""
    return scenario.kind is not AREAS or bool(scenario.boxes)


def _boxes(scenario: Scenario) -> list[str]:
    boxes = scenario.boxes_on(*_grids(scenario))
    rows = [literal(box.plain().get("edges")) for box in boxes]
    lines = ["# West, south, east, north in the unit of the grid."]
    if _polygons(scenario):
        # Boxes are polygons here: a question is of one kind.
        rows = [
            f"from_wkt({literal(box.wkt)})"
            if isinstance(box, Polygon)
            else f"box{literal(tuple(box.plain()['edges']))}"
            for box in boxes
        ]
    if scenario.places:
        lines = ["# West, south, east, north of each place.", f'{ANYWHERE} = [float("nan")] * 4']
        rows = [row.replace(literal(ANYWHERE), ANYWHERE) for row in rows]
    lines += [_list("boxes", rows), _list("names", [literal(box.name) for box in boxes])]
    for name, release in zip(_answers(scenario), releases(scenario), strict=True):
        lines.append(f"{name} = {release}.answer(boxes)")
    # Areas know which records are theirs; a box asks about the cells of them all.
    cells = "matrix.national()" if scenario.kind is AREAS else "matrix"
    return [*lines, f"true = exact({cells}, boxes)"]


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
    """Lines that print the releases, the chosen area or the rounds, and the answers."""
    lines = [f"print({name})" for name in releases(scenario)] + _area(scenario)
    if scenario.kind is PEOPLE:
        lines += [
            "for number, row in enumerate(release.rounds.itertuples(), 1):",
            '    print(f"round {number}: {row.people:,} people, {row.cells:,} numbers each")',
        ]
    if _asks(scenario):
        lines.append("for i, name in enumerate(names):")
        if scenario.places and scenario.contribution_bound:
            # Bounded counts are none of trips: the screen shows shares.
            lines += [
                "    private = 100 * answers.value[i] / release.total",
                "    truth = 100 * true[i] * matrix.lattice / matrix.total",
                '    print(f"{name}: private {private:,.2f} %, true {truth:,.2f} %")',
            ]
        else:
            text = "private {answers.value[i]:,.1f} (noise +-{answers.sd[i]:,.1f})"
            if len(scenario.mechanisms) > 1:
                text = "A {answers_a.value[i]:,.1f}, B {answers_b.value[i]:,.1f}"
            lines.append(f'    print(f"{{name}}: {text}, true {{true[i]:,.1f}}")')
    return "\n".join(lines) + "\n"


def _area(scenario: Scenario) -> list[str]:
    """Lines that print the sentence of the page about the chosen area of a country."""
    if scenario.kind is not AREAS:
        return []
    return [
        'name = " > ".join(areas.paths[node]) or country.title',
        "half, truth = 1.96 * sd[node], matrix.by_node[node]",
        'print(f"{name}: private {counts[node]:,.0f} (95 %: +-{half:,.0f}), truly {truth:,}")',
    ]


def _table(scenario: Scenario) -> list[str]:
    """Lines that tell of the chosen area, and end in a table of the boxes."""
    if not _asks(scenario):
        return _area(scenario)
    lines = []
    for letter, name in zip((" A", " B"), _answers(scenario), strict=False):
        side = letter if len(scenario.mechanisms) > 1 else ""
        lines += [f'        "private{side}": {name}.value,', f'        "noise{side}": {name}.sd,']
    body = "\n".join(['        "true": true,', *lines])
    frame = f"pd.DataFrame(\n    {{\n{body}\n    }},\n    index=names,\n).round(1)"
    return [*_area(scenario), frame]


def _screen(scenario: Scenario) -> str:
    """Lines that end in the page with the scenario."""
    if scenario.page == "learn":
        lesson = f", lesson={literal(scenario.lesson)}" if scenario.lesson else ""
        if scenario.lesson_step:
            lesson += f", lesson_step={scenario.lesson_step}"
        # Learn has no grid finer than that.
        side = f", side={scenario.side}" if scenario.side <= 1024 else ""
        return f"from explorer.app import Learn\n\nLearn({literal(scenario.city)}{lesson}{side})"
    page = scenario.page.capitalize()
    imported = f"from explorer.app import {page}"
    if scenario.kind in (AREAS, PEOPLE):
        # Page and mechanism have one name: the cells above would find the page.
        imported, page = "import explorer.app", f"explorer.app.{page}"
    plain = pprint.pformat(scenario.to_dict(), width=88, sort_dicts=False)
    indented = "\n".join(f"    {line}" for line in plain.splitlines())
    return (
        f"{imported}\nfrom explorer.scenario import Scenario\n\n"
        f"scenario = Scenario.from_dict(\n{indented}\n)\n{page}(scenario=scenario)"
    )


def releases(scenario: Scenario) -> list[str]:
    """The variables that hold the releases."""
    return ["release_a", "release_b"] if len(scenario.mechanisms) > 1 else ["release"]


def _answers(scenario: Scenario) -> list[str]:
    return [name.replace("release", "answers") for name in releases(scenario)]


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


def _list(name: str, items: list[str]) -> str:
    one = f"{name} = [{', '.join(items)}]"
    if len(one) <= _LINE:
        return one
    return "\n".join([f"{name} = [", *(f"    {item}," for item in items), "]"])


def _plain(text: str) -> str:
    """Markdown that shows a text as it is: titles of cities and screens come from files."""
    return _MARKUP.sub(r"\\\g<0>", text)


def _cell(number: int, kind: str, source: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number:02}", "metadata": {}}
    cell["source"] = source.splitlines(keepends=True)
    return {**cell, "execution_count": None, "outputs": []} if kind == "code" else cell
