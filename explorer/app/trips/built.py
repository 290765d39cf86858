"""How it was cut: the branch of the chosen row, cut by cut, on all maps and in words."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.boxes.table import edge_unit
from explorer.app.curator.panel import SteppedPanel, follow
from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.trips.screen import PlacePicture, TripScreen, answer_trips
from explorer.app.trips.sentences import question
from explorer.inspection import Node, inspect
from explorer.inspection.growth import Growth
from explorer.releases.release import Release
from explorer.releases.units import UNITS_PER_EPSILON
from explorer.views.markup import amount, budget_bar
from explorer.views.tables import Cell, table

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CutJob:
    """One request; ``cuts`` None is the end, and ``previous`` lends whatever is still right."""

    screen: TripScreen
    cuts: int | None
    row: str
    previous: Cut | None = None


@dataclass(frozen=True, eq=False)
class Truth:
    """What is exact: of the nodes of the branch, (depth + 1,), and of the row, if there is one."""

    nodes: Floats
    answer: float | None


@dataclass(frozen=True, eq=False)
class Cut:
    """The release cut off at one level of the branch; everything but ``truth`` is released.

    Attributes
    ----------
    asked : the cuts asked for, None for the end
    cuts : those shown
    nodes : of the branch, from the whole domain to its leaf
    painted : all maps of the release cut off there, None at the end, where the screen's are right
    row : name of the row that the maps are about, "" for none
    answer, final : to that row, by the release cut off and by the whole; None without a row, and
        in percent of all trips where persons are protected
    truth : the curator's
    """

    screen: TripScreen
    growth: Growth
    asked: int | None
    cuts: int
    nodes: tuple[Node, ...]
    painted: tuple[tuple[PlacePicture, ...]] | None
    row: str
    answer: float | None
    final: float | None
    truth: Truth | None

    @property
    def depth(self) -> int:
        return len(self.nodes) - 1

    @property
    def node(self) -> Node:
        return self.nodes[self.cuts]

    @property
    def at_end(self) -> bool:
        return self.cuts == self.depth

    def boxes(self) -> list[tuple[float, ...]]:
        """The node's box on every map, x0, y0, x1, y1 in grid units."""
        bounds = self.node.bounds
        return [bounds[start : start + 4] for start in range(0, len(bounds), 4)]

    def spent(self) -> list[tuple[str, float]]:
        """What the path to the node has spent, every stage in the order of the release."""
        tree = self.growth.release.tree
        on_path = tree.spent[[node.number for node in self.nodes[: self.cuts + 1]]].sum(axis=0)
        here = zip(tree.stages, (on_path / UNITS_PER_EPSILON).tolist(), strict=True)
        return [*self.growth.release.elsewhere, *here]


def compute_cut(job: CutJob) -> Cut:
    """Cut the tree at that level, look the branch's nodes up, paint, answer the row."""
    screen, old = job.screen, job.previous
    release, path = screen.release, screen.branch.path
    if old is not None and old.growth.release is release:
        growth, nodes = old.growth, old.nodes
    else:
        growth, nodes = Growth(release), ()
    if [node.number for node in nodes] != path.tolist():
        nodes = tuple(inspect(release, int(number)) for number in path)
    depth = len(nodes) - 1
    cuts = depth if job.cuts is None else min(max(job.cuts, 0), depth)
    grown: Release = release if cuts == depth else growth.at(int(growth.level_ends[cuts]))
    if cuts == depth:
        painted = None
    elif old is not None and (old.screen, old.cuts) == (screen, cuts):
        painted = old.painted
    else:
        painted = screen.paint(grown, screen.cell)
    row = screen.look.row
    question = None if row is None or row >= len(screen.boxes) else screen.boxes[row : row + 1]
    tree, data = release.tree, screen.data
    here = None if question is None else answer_trips(grown, data, question)
    final = None if question is None else answer_trips(release, data, question)
    truth = Truth(
        data.every.count(tree.lower[path], tree.upper[path]) / data.every.lattice,
        None if final is None else float(final.true[0]),
    )
    return Cut(
        screen=screen,
        growth=growth,
        asked=job.cuts,
        cuts=cuts,
        nodes=nodes,
        painted=painted,
        row=job.row if question is not None else "",
        answer=None if here is None else float(here.private[0]),
        final=None if final is None else float(final.private[0]),
        truth=truth,
    )


def caption(cut: Cut) -> str:
    """What is below the maps while they show a level."""
    kind = "a preview, not private" if cut.screen.release.preview else "the drawn release"
    return f"After {cut.cuts} of {_cuts(cut.depth)}; {kind}"


def about_piece(cut: Cut) -> str:
    """Where the branch is: the piece, its private count, and why it was cut on or not."""
    node, data = cut.node, cut.screen.data
    where = "Before the first cut" if cut.cuts == 0 else f"After {cut.cuts} of {_cuts(cut.depth)}"
    if cut.depth == 0:
        where = "Never cut"
    piece = question(data.names, np.reshape(node.bounds, (-1, 4)), data.grids)
    verdict, reason = node.decision.verdict, node.decision.reason
    return (
        f"{where}: {piece}. Private count {_whole(node.count)}. "
        f"{verdict[:1].upper()}{verdict[1:]}. {reason}{_parts(cut)}"
    )


def about_answer(cut: Cut) -> str:
    """What the row's answer would be if nothing had been cut further."""
    if cut.answer is None or cut.final is None:
        return ""
    shares = cut.screen.release.unit != "point"
    say = "{:.2f} % of all trips".format if shares else _whole
    if cut.at_end:
        text = f"The release answers {cut.row} with {say(cut.final)}"
    else:
        text = (
            f"Had every branch ended here, {cut.row} would be answered with {say(cut.answer)}; "
            f"the release says {say(cut.final)}"
        )
    if cut.truth is not None and cut.truth.answer is not None:
        text += f", and the truth is {say(cut.truth.answer)}"
    return f"{text}."


def about_budget(cut: Cut) -> str:
    """What the path has spent so far."""
    spent = sum(part for _, part in cut.spent())
    whole = cut.screen.release.epsilon
    return f"Budget of the path so far: {amount(spent)} of epsilon {amount(whole)}."


def levels_table(cut: Cut) -> str:
    """The branch's pieces up to the level shown, one row each, the present one standing out."""
    data = cut.screen.data
    unit, _ = edge_unit(data.grids[0])
    columns = [("cuts", "so many cuts lead to this piece")]
    columns += [(f"{name}, {unit}", f"size of its box on the map {name}") for name in data.names]
    columns += [
        ("private count", "after all draws were made to agree"),
        ("noisy counts", "drawn for this piece itself"),
    ]
    if cut.truth is not None:
        columns.append(("true count", "exact: for the curator only"))
    columns.append(("cut on?", "what was decided, from released figures alone"))
    rows = []
    for level, node in enumerate(cut.nodes[: cut.cuts + 1]):
        now = level == cut.cuts
        draws = ", ".join(_whole(value) for _, value in node.draws) or "none"
        row = [Cell(str(level)), *(Cell(size) for size in _sizes(node, cut))]
        row += [Cell(_whole(node.count), best=now), Cell(draws)]
        if cut.truth is not None:
            row.append(Cell(_whole(float(cut.truth.nodes[level]))))
        rows.append([*row, Cell(node.decision.verdict)])
    about = cut.row or "the most likely combination of cells"
    return table(f"The pieces on the way to {about}, from all trips down.", columns, rows)


def _parts(cut: Cut) -> str:
    if cut.at_end:
        return ""
    node, child = cut.node, cut.nodes[cut.cuts + 1]
    if node.children == 1:
        return " It was counted again."
    bounds = np.array([node.bounds, child.bounds]).reshape(2, -1, 4)
    names = cut.screen.data.names
    on = [name for name, (a, b) in zip(names, bounds.swapaxes(0, 1), strict=True) if np.any(a != b)]
    maps = "map" if len(on) == 1 else "maps"
    return f" It was cut into {node.children:,} parts on the {maps} {' and '.join(on)}."


def _sizes(node: Node, cut: Cut) -> list[str]:
    sizes = []
    boxes = np.reshape(node.bounds, (-1, 4))
    for (x0, y0, x1, y1), grid in zip(boxes.tolist(), cut.screen.data.grids, strict=True):
        _, size = edge_unit(grid)
        sizes.append(f"{(x1 - x0) / size:.3g} × {(y1 - y0) / size:.3g}")
    return sizes


def _cuts(n: int) -> str:
    return "1 cut" if n == 1 else f"{n} cuts"


def _whole(value: float) -> str:
    # A noise below one half must not read "-0".
    return f"{round(value):,}".replace("-", "−")


class Built(SteppedPanel[Cut]):
    """The panel; the maps show its level while it is open and not at the end."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(compute_cut, parts)
        self.cut: Cut | None = None
        # So many cuts were asked for; None is the end, of whatever release.
        self._asked: int | None = None
        self.level = self._slider("Number of cuts shown", self._slid)
        self._said, self._answer, self._about_budget, self._budget, self._table = (
            html_pane(margin=(4, 0)) for _ in range(5)
        )
        self.view = pn.Column(
            ui.wrapping(*self.buttons.values(), self.pace, self.level, gap="6px 8px"),
            self._said,
            self._answer,
            self._about_budget,
            self._budget,
            self._table,
            sizing_mode="stretch_width",
            margin=(4, 0),
        )

    # What the strip asks for.

    def show(self, screen: TripScreen) -> None:
        old, self._screen = self._screen, screen
        if old is None or old.release is not screen.release:
            self.player.stop()
        self._draw()

    def hide(self) -> None:
        super().hide()
        self.cut, self._asked = None, None
        maps = self._maps()
        if maps is not None:
            maps.enclose([None] * len(maps.views))

    # What a visitor does.

    def _slid(self, cuts: int) -> None:
        if self.cut is not None and cuts != self._wanted(self.cut):
            self._to(cuts)

    def _wanted(self, cut: Cut) -> int:
        """The cuts asked for last; those on the maps may be earlier ones."""
        return cut.depth if self._asked is None else min(self._asked, cut.depth)

    def _to_start(self) -> None:
        self._to(0)

    def _to_end(self) -> None:
        self._to(None)

    def _step(self, direction: int) -> None:
        if self.cut is not None:
            self._to(max(self._wanted(self.cut) + direction, 0))

    def _to(self, cuts: int | None) -> None:
        self.player.stop()
        self._ask(cuts)

    def _ask(self, cuts: int | None) -> None:
        at_end = cuts is not None and self.cut is not None and cuts >= self.cut.depth
        self._asked = None if at_end else cuts
        self._draw()

    # Playing.

    def _rewind(self) -> None:
        if self.cut is not None and self.cut.at_end:
            self._ask(0)

    def _next(self) -> bool:
        if self.cut is None:
            return False
        if self._drawing:
            return True
        self._ask(self._wanted(self.cut) + 1)
        return self._asked is not None

    # From a number of cuts to pictures.

    def _question(self, screen: Any) -> CutJob:
        row, names = screen.look.row, self._rectangles.names
        name = names[row] if row is not None and row < len(names) else ""
        return CutJob(screen, self._asked, name, self.cut)

    def _show(self, cut: Cut) -> None:
        self.cut, maps = cut, self._maps()
        if maps is not None:
            if cut.painted is None:
                maps.uncover()
            else:
                maps.cover(*cut.painted, caption(cut))
            maps.enclose(cut.boxes())
        if cut.asked == self._asked:
            # An earlier one would pull a slider back that a visitor still moves.
            follow(self.level, cut.cuts, cut.depth)
        self._offer(cut.cuts == 0, cut.at_end)
        text = html.escape(about_piece(cut))
        put(self._said, f'<p class="summary" role="status">{text}</p>')
        put(self._answer, f"<p>{html.escape(about_answer(cut))}</p>")
        put(self._about_budget, f"<p>{html.escape(about_budget(cut))}</p>")
        put(self._budget, budget_bar(cut.spent(), cut.screen.release.epsilon))
        put(self._table, levels_table(cut))
