"""Parameters that several mechanisms declare alike."""

from __future__ import annotations

import param

from explorer.grid.places import MOST_PLACES

INFERENCES = ["leaves", "least squares", "split"]
#: Of mechanisms whose budgets leave parts of the map open to the doubt that they are empty.
EMPTY_OR_NOT = "empty or not"
#: Numbers of dimensions of a mechanism that nothing ties to a map.
ANY = range(1, 2 * MOST_PLACES + 1)
#: Those of a mechanism that was made for trips: its formulas ask for two or more.
TRIPS = range(2, 2 * MOST_PLACES + 1)
#: Those of whole places, two each.
PLACES = range(2, 2 * MOST_PLACES + 1, 2)
#: Where counts can be interpolated; elsewhere a leaf's count is evenly in it.
INTERPOLATED = (2,)


def inference_option(default: str) -> param.Selector:
    """The `inference` parameter of mechanisms that measure a tree."""
    knows_empty = default == EMPTY_OR_NOT
    last = "; empty or not weighs how likely each part is to hold nobody" if knows_empty else ""
    return param.Selector(
        default=default,
        objects=[*INFERENCES, EMPTY_OR_NOT] if knows_empty else INFERENCES,
        label="Inference",
        doc="Leaves publishes the last draws alone; least squares makes all draws of the tree "
        f"agree; split does so without negative counts{last}. Free: post-processing.",
    )


def inside_option(default: str = "uniform") -> param.Selector:
    """The `inside` parameter: how a leaf's count is inside it."""
    return param.Selector(
        default=default,
        objects=["uniform", "interpolated"],
        label="Inside leaves",
        doc="Uniform spreads a leaf's count evenly; interpolated follows the private counts of "
        "its neighbours. Free: post-processing.",
    )


def total_share_option() -> param.Number:
    """The `total_share` parameter of mechanisms that begin with a noisy total."""
    return param.Number(
        default=0.01,
        bounds=(0.001, 0.5),
        softbounds=(0.01, 0.1),
        step=0.01,
        label="Share for the total",
        doc="Part of the budget that buys the noisy total behind the grid size.",
    )


def guideline_option(name: str, default: float, doc: str) -> param.Number:
    """A constant of the grids' guidelines (`c`, `c2`)."""
    return param.Number(
        default=default, bounds=(0.1, 1000.0), softbounds=(1, 50), step=1, label=name, doc=doc
    )


def grid_size_option(doc: str, label: str = "Grid size") -> param.Integer:
    """Cells along each side of a grid; None leaves the choice to Guideline 1."""
    return param.Integer(default=None, bounds=(1, 2048), allow_None=True, label=label, doc=doc)


def structure_share_option() -> param.Number:
    """The `structure_share` parameter of kd-trees."""
    return param.Number(
        default=0.15,
        bounds=(0.01, 0.9),
        step=0.01,
        label="Share for medians",
        doc="Part of the budget that chooses where to cut.",
    )


def level_budget_option() -> param.Selector:
    """The `budget` parameter of complete trees."""
    return param.Selector(
        default="geometric",
        objects=["geometric", "uniform"],
        label="Budget per level",
        doc="Geometric gives the small nodes more, uniform gives every level the same.",
    )
