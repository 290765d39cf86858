"""The leaf inspector: click a piece of the map, or walk, and read why it ended there."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import panel as pn

from explorer.app.boxes.answers import count
from explorer.app.boxes.table import edge_unit
from explorer.app.curator.panel import ExplainPanel
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.numbers import finite
from explorer.app.kit.prose import column
from explorer.app.kit.words import words
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.inspection import CutStudy, Node, inspect, neighbour, node_at, study_cut
from explorer.views.lesson_charts import CUT_LEGEND, CutCosts
from explorer.views.markup import Fact, node_card, swatches


@dataclass(frozen=True, eq=False)
class NodeLook:
    """A node with its exact count and, for a cut of HTF, the costs of all cuts: the curator's."""

    screen: Screen
    node: Node
    true: int
    study: CutStudy | None


def _look_at(question: tuple[Screen, int]) -> NodeLook:
    """Look a node up by its position in the tree, count what is really in it, study its cut."""
    screen, number = question
    release, matrix = screen.release, screen.data.matrix
    node = inspect(release, number)
    true = screen.data.every.count(np.array([node.lower]), np.array([node.upper]))
    return NodeLook(screen, node, int(true[0]), study_cut(matrix, release, number))


AXES = ("row", "column")


def title(look: NodeLook) -> str:
    """Which node it is, such as "Leaf 12 of 7,414"."""
    node, release = look.node, look.screen.release
    if node.leaf is not None:
        return f"Leaf {node.leaf + 1:,} of {release.n_leaves:,}"
    parts = f"divided into {node.children:,} parts"
    return f"The whole map, {parts}" if node.parent < 0 else f"Inner node, {parts}"


def facts(look: NodeLook) -> list[Fact]:
    """Everything but decision and budget: what it is, its value, a remark."""
    node, grid = look.node, look.screen.release.grid
    low, high = node.interval
    kind = "95 % of the noise" if node.sd_exact else "95 % of the noise, about"
    draws = ", ".join(f"{stage} {count(value)}" for stage, value in node.draws)
    divisions = "1 division" if node.depth == 1 else f"{node.depth} divisions"
    source = "its count is the sum of its parts"
    if look.screen.release.haar_variance is not None:
        source = "its count comes from wavelet coefficients"
    return [
        ("Private count", _one(node.count), f"{kind}: {_one(low)} to {_one(high)}"),
        ("True count", f"{look.true:,}", "exact: for the curator only, of all records"),
        ("Noisy counts drawn here", draws or "none", "" if draws else source),
        ("Size", *_size(node, grid)),
        ("Bounds", *_bounds(node, grid)),
        ("Depth and height", f"{node.depth} and {node.height}", f"{divisions} below the whole map"),
    ]


def budget(look: NodeLook) -> str:
    """What the path has spent of all there was."""
    spent, whole = look.node.epsilon, look.screen.release.epsilon
    sentence = f"{spent:.4g} of epsilon {whole:.4g}"
    if look.node.leaf is None and spent < whole * (1 - 1e-9):
        return f"{sentence}; the rest is spent below."
    return f"{sentence}."


def costs(study: CutStudy) -> str:
    """The chart of cuts in numbers: the cut chosen, the best, the candidates and their noise."""
    axis = AXES[study.axis]
    chosen, best = study.cost(study.chosen), study.cost(study.best)
    sentence = f"Cut at {axis} {study.chosen:,}, exact cost {_one(chosen)} points"
    if len(study.positions) == 1:
        return f"{sentence}: there is no other cut, so nothing was looked at and nothing paid."
    sentence += (
        f"; the best of {len(study.positions):,} cuts is {axis} {study.best:,} with {_one(best)}. "
    )
    if study.rule in ("middle", "all cuts"):
        middle = "The rule takes the middle and looks at no cost."
        every = "Permute-and-flip saw all costs; only its choice is released."
        return sentence + (middle if study.rule == "middle" else every)
    if np.isnan(study.noise_sd):
        return sentence + "The rule allows one cut, so nothing was looked at and nothing paid."
    if not study.stored:
        return sentence + "What the search looked at is not kept in files."
    first, last = study.allowed
    among = f" from {first:,} to {last:,}" if study.rule != "search" else ""
    return sentence + (
        f"The search looked at {len(study.looked_at)} candidates{among}, with noise of standard "
        f"deviation {_one(study.noise_sd)}; the costs differ by {_one(float(np.ptp(study.costs)))}."
    )


def _size(node: Node, grid: Grid) -> tuple[str, str]:
    rows, cols = node.shape
    cells = "1 cell" if rows * cols == 1 else f"{cols:,} × {rows:,} cells"
    if grid.unit != "m":
        return cells, ""
    return f"{cols * grid.cell_width:,.0f} m × {rows * grid.cell_height:,.0f} m", cells


def _bounds(node: Node, grid: Grid) -> tuple[str, str]:
    (r0, c0), (r1, c1) = node.lower, node.upper
    cells = f"{_span('column', c0, c1 - 1)}, {_span('row', r0, r1 - 1)}"
    if grid.unit != "m":
        return cells, "row 0 in the south"
    west, south, east, north = (count(edge) for edge in node.bounds)
    return f"west {west} m, south {south} m, east {east} m, north {north} m", cells


def _span(name: str, first: int, last: int) -> str:
    return f"{name} {first:,}" if first == last else f"{name}s {first:,} to {last:,}"


def _one(value: float) -> str:
    digits = 1 if abs(value) < 1000 else 0
    text = f"{value:,.{digits}f}".replace("-", "−")
    return "0.0" if text == "−0.0" else text


_STEPS = ("North", "South", "West", "East", "Parent", "Child", "Next leaf")


class LeafInspector(ExplainPanel[NodeLook]):
    """The panel."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(_look_at, parts)
        # Row and column in cells, kept when another picture comes; how deep, None for the leaf.
        self._place: tuple[float, float] | None = None
        self._depth: int | None = None
        self.node = 0
        self.steps = {name: self._button(name) for name in _STEPS}
        self.entry = ui.TextInput(
            label="Go to: leaf number, or x, y",
            value="",
            size="small",
            margin=(0, 6),
            styles={"flex": "0 1 230px"},
        )
        ui.bind(self.entry, self._typed, self._tell)
        self._note = html_pane()
        self._card = html_pane(margin=(6, 0))
        self._sentence = html_pane(margin=(2, 0))
        self.chart = CutCosts()
        self._costs = column(
            html_pane(f"<h3>Why this cut</h3><p>{words('leaf')['Costs']}</p>", margin=(4, 0)),
            self._sentence,
            pn.pane.Bokeh(self.chart.figure, sizing_mode="stretch_width", margin=0),
            visible=False,
        )
        self.view = column(
            ui.wrapping(*self.steps.values(), self.entry, gap="4px 0"),
            self._note,
            self._card,
            self._costs,
            margin=(4, 0),
        )

    def show(self, screen: Screen) -> None:
        old, self._screen = self._screen, screen
        if old is not None and old.data.grid != screen.data.grid:
            self._place = None
        if old is not None and old.release is screen.release and self._place is not None:
            # A pan or a zoom: the node is the same, and it is outlined already.
            return
        tree, grid = screen.release.tree, screen.data.grid
        if self._place is None:
            maps = self._maps()
            view = grid.bounds if maps is None else maps.ranges.bounds
            self._place = _cell((view[0] + view[2]) / 2, (view[1] + view[3]) / 2, grid)
            self._depth = None
        try:
            node = node_at(tree, self._place, self._depth)
        except InputError:  # the view has left the map
            node = node_at(tree, tree.upper[0] / 2)
        self._look(node, self._place)

    def selected(self) -> None:
        """Boxes do not matter here."""

    def hide(self) -> None:
        self._screen = None
        maps = self._maps()
        if maps is not None:
            maps.outline(None)

    def tapped(self, x: Any, y: Any) -> None:
        """Look at the leaf under a click; nothing happens while the panel is not open."""
        if self._screen is None:
            return
        grid = self._screen.data.grid
        try:
            place = _cell(finite(x, "A place"), finite(y, "A place"), grid)
            node = node_at(self._screen.release.tree, place)
        except InputError:  # a click next to the map
            return
        self._look(node, place)

    def step(self, name: str) -> None:
        """Go to a neighbour, the parent, the child at the last place, or the next leaf."""
        if self._screen is None:
            return
        tree, place = self._screen.release.tree, self._place
        if name == "Parent":
            if self.node == 0:
                raise InputError("This is the whole map: it has no parent.")
            self._look(int(tree.parent[self.node]), place)
        elif name == "Child":
            if tree.fan_out[self.node] == 0:
                raise InputError("This is a leaf: it has no children.")
            assert place is not None
            self._look(node_at(tree, place, int(tree.depth[self.node]) + 1), place)
        elif name == "Next leaf":
            after = int(np.searchsorted(tree.leaves, self.node, side="right"))
            self._look(int(tree.leaves[after % len(tree.leaves)]))
        else:
            self._look(neighbour(tree, self.node, name.lower()))

    def _typed(self, text: str) -> None:
        """Go to a leaf number, or to a place as two numbers in the unit of the table's edges."""
        if self._screen is None or not text.strip():
            return
        tree, grid = self._screen.release.tree, self._screen.data.grid
        parts = re.split(r"[;\s]+|,\s*", text.strip())
        try:
            numbers = [float(part.replace("−", "-")) for part in parts if part]
        except ValueError:
            numbers = []
        if len(numbers) == 1 and numbers[0].is_integer() and 1 <= numbers[0] <= len(tree.leaves):
            self._look(int(tree.leaves[int(numbers[0]) - 1]))
        elif len(numbers) == 2:
            size = edge_unit(grid)[1]
            x, y = (finite(number, "A place") * size for number in numbers)
            place = _cell(x, y, grid)
            self._look(node_at(tree, place), place)
        else:
            raise InputError(
                f"Give a leaf number from 1 to {len(tree.leaves):,}, or x and y in "
                f"{edge_unit(grid)[0]}."
            )

    def _tell(self, sentence: str) -> None:
        """Say why a step cannot be taken, next to the buttons: the page's notices are far up."""
        text = html.escape(sentence)
        put(self._note, f'<p class="notice" role="alert">{text}</p>' if text else "")

    def _look(self, node: int, place: tuple[float, float] | None = None) -> None:
        screen = self._screen
        assert screen is not None
        tree = screen.release.tree
        lower, upper = tree.lower[node], tree.upper[node]
        if place is None or not (np.all(lower <= place) and np.all(place < upper)):
            place = tuple(((lower + upper) / 2).tolist())
        self._tell("")
        self.node, self._place = node, place
        self._depth = int(tree.depth[node]) if tree.fan_out[node] else None
        maps = self._maps()
        if maps is not None:
            edges = screen.data.grid.from_cells(np.array([[lower, upper]]))[0]
            maps.outline(tuple(edges.tolist()))
        self._draw()

    def _question(self, screen: Screen) -> tuple[Screen, int]:
        return screen, self.node

    def _fits(self, look: NodeLook) -> bool:
        # A pan or a zoom is another screen with the same leaves.
        return self._screen is not None and self._screen.release is look.screen.release

    def _show(self, look: NodeLook) -> None:
        decision = look.node.decision
        put(
            self._card,
            node_card(
                title(look),
                decision.verdict,
                decision.reason,
                facts(look),
                look.node.spent,
                budget(look),
            ),
        )
        study = look.study
        if study is not None:
            sentence = costs(study)
            put(self._sentence, swatches(CUT_LEGEND, sentence))
            self.chart.show(
                f"cut at {AXES[study.axis]}",
                study.positions,
                study.costs,
                study.looked_at,
                study.noisy,
                study.chosen,
                study.best,
                sentence,
            )
        self._costs.visible = study is not None

    def _button(self, name: str) -> Any:
        def go(_event: Any) -> None:
            try:
                self.step(name)
            except InputError as error:
                self._tell(str(error))

        return ui.Button(label=name, variant="text", size="small", margin=(0, 2, 0, 0), on_click=go)


def _cell(x: float, y: float, grid: Grid) -> tuple[float, float]:
    row, column = grid.to_cells([[x, y, x, y]])[0, 0].tolist()
    return row, column
