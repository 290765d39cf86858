"""Where the budget went: level by level over the whole country, and on the way to one area."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.country.data import CountryData
from explorer.app.country.maps import level_name
from explorer.app.country.screen import CountryScreen
from explorer.app.curator.panel import ExplainPanel
from explorer.app.curator.parts import PageParts
from explorer.app.kit.html import html_pane, put
from explorer.country.mechanism import AREAS
from explorer.releases.country import CountryRelease
from explorer.releases.units import UNITS_PER_EPSILON
from explorer.views.markup import amount, budget_bar

Floats = NDArray[np.float64]
Spent = list[tuple[str, float]]
INSIDE = "map inside"


@dataclass(frozen=True, eq=False)
class BudgetFound:
    """What was spent, in epsilon.

    Attributes
    ----------
    levels : mean over all paths of what a level's counts and the maps cost
    path : of the chosen area, from the whole downwards
    ends : whether the path ends in a map or a lowest area, so that nothing is left
    """

    screen: CountryScreen
    levels: Spent
    path: Spent
    ends: bool


def find_budget(screen: CountryScreen) -> BudgetFound:
    """Add up what the nodes of a release paid."""
    release, data = screen.release, screen.data
    path, ends = _path(release, data, screen.node)
    return BudgetFound(screen, _levels(release, data), path, ends)


def _levels(release: CountryRelease, data: CountryData) -> Spent:
    tree, people = release.tree, data.windows.people
    own_spent, inside = _paid(release)
    below = np.zeros(len(own_spent))
    below[tree.leaves] = 1.0
    for node in range(len(own_spent) - 1, 0, -1):
        below[tree.parent[node]] += below[node]
    levels = people.level[release.node]
    weights = own_spent * below / below[0]
    results = []
    for level in range(int(levels.max()) + 1):
        here = levels == level
        if np.any(here) and weights[here].sum() > 0:
            results.append((level_name(data, level), float(weights[here].sum())))
    maps = float((inside * below).sum() / below[0])
    return [*results, (INSIDE, maps)] if maps else results


def _path(release: CountryRelease, data: CountryData, node: int) -> tuple[Spent, bool]:
    tree, people = release.tree, data.windows.people
    person = int(people.of[node])
    place = {int(p): i for i, p in enumerate(release.node)}
    while person not in place:
        # Below where a map began nothing was counted.
        person = int(people.parent[person])
    at = place[person]
    way = [at]
    while tree.parent[way[-1]] >= 0:
        way.append(int(tree.parent[way[-1]]))
    own_spent, inside = _paid(release)
    results: Spent = [
        (data.names[int(people.top[release.node[ancestor]])], float(own_spent[ancestor]))
        for ancestor in reversed(way)
    ]
    if inside[at] > 0:
        results.append((INSIDE, float(inside[at])))
    return results, at in tree.leaves


def _paid(release: CountryRelease) -> tuple[Floats, Floats]:
    """What every node of the tree paid for its own count, and for the map in it, in epsilon."""
    spent = release.tree.spent / UNITS_PER_EPSILON
    counts = np.array([stage == AREAS for stage in release.tree.stages])
    return spent[:, counts].sum(axis=1), spent[:, ~counts].sum(axis=1)


class BudgetPanel(ExplainPanel[BudgetFound]):
    """The panel: two bars, and the same in words."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(find_budget, parts)
        self._said, self._levels, self._path = (html_pane(margin=(4, 0)) for _ in range(3))
        self.view = pn.Column(
            self._said, self._levels, self._path, sizing_mode="stretch_width", margin=(4, 0)
        )

    def show(self, screen: Any) -> None:
        self._screen = screen
        self._draw()

    def selected(self) -> None:
        """Boxes do not matter here."""

    def hide(self) -> None:
        self._screen = None

    def _question(self, screen: Any) -> Any:
        return screen

    def _show(self, budget: BudgetFound) -> None:
        screen = budget.screen
        epsilon, data = screen.release.epsilon, screen.data
        name = html.escape(data.names[screen.node])
        put(self._said, f'<p class="summary" role="status">{html.escape(sentence(budget))}</p>')
        put(
            self._levels,
            f"<h3>Level by level</h3><p>On average over all areas</p>"
            f"{budget_bar(budget.levels, epsilon)}",
        )
        put(
            self._path,
            f"<h3>On the way to {name}</h3><p>From the whole downwards</p>"
            f"{budget_bar(budget.path, epsilon)}",
        )


def sentence(budget: BudgetFound) -> str:
    """What the path has spent, and on what most."""
    epsilon = budget.screen.release.epsilon
    spent = sum(part for _, part in budget.path)
    name, largest = max(budget.path, key=lambda entry: entry[1])
    if spent == 0:
        return f"Nothing is spent above {budget.screen.data.names[budget.screen.node]} or on it."
    what = "the map inside" if name == INSIDE else f"the count of {name}"
    text = (
        f"The way to {budget.screen.data.names[budget.screen.node]} has spent {amount(spent)} of "
        f"epsilon {amount(epsilon)}, most of it ({amount(largest)}) on {what}"
    )
    if not budget.ends:
        text += "; the rest is for the areas in it"
    return f"{text}."
