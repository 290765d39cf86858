"""A scenario of a country as Python: what its scripts say otherwise than those of maps."""

from __future__ import annotations

from explorer.cities.countries import find
from explorer.scenario.model import Scenario
from explorer.scenario.parts import AreaLooks


def load(scenario: Scenario, key: str) -> str:
    """Lines that count the points of a country by area and cell; ``key`` as Python writes it.

    Raises
    ------
    InputError
        For a country that is not in the catalogue here.
    """
    find(scenario.city)
    bound = scenario.contribution_bound
    limited = f", contribution_bound={bound}" if bound else ', per="record"'
    return (
        f"country = countries()[{key}]\n"
        "areas = country.areas()\n"
        "# Exact counts: the curator's.\n"
        f"matrix = areas.count(country.points(), {scenario.side}{limited})"
    )


def choose(scenario: Scenario, path: str) -> str:
    """Lines that ask about the chosen area, by its path as Python writes it."""
    look = scenario.look
    assert isinstance(look, AreaLooks)
    lines = ["# Of every area, in the order of areas.paths.", "counts, _, sd = release.figures()"]
    if look.area is None:
        lines += [
            "# The lowest area with most private records.",
            "node = max(areas.lowest, key=lambda each: counts[each])",
        ]
    else:
        lines.append(f"node = areas.paths.index({path})")
    return "\n".join(lines)


def tell() -> list[str]:
    """Lines that print the sentence of the page about the chosen area."""
    return [
        'name = " > ".join(areas.paths[node]) or country.title',
        "half, truth = 1.96 * sd[node], matrix.by_node[node]",
        'print(f"{name}: private {counts[node]:,.0f} (95 %: +-{half:,.0f}), truly {truth:,}")',
    ]


def table() -> str:
    """Lines that end in a table of the areas of all levels, private and true counts."""
    return (
        'table = release.areas().drop(columns="geometry")\n'
        "pd.DataFrame(table).assign(true=matrix.by_node).round(1)"
    )
