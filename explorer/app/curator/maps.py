"""The two maps with their titles, tools and colour bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import panel as pn
from bokeh.core.property.descriptors import UnsetValueError
from numpy.typing import NDArray

from explorer.app.curator.screen import Screen
from explorer.app.kit import ui
from explorer.app.kit.labels import CURATOR, DRAWN, PREVIEW
from explorer.app.kit.theme import CSS, SPOKEN_LABEL
from explorer.app.state.explore import ExploreState
from explorer.grid.grid import Grid
from explorer.views import maps as figures
from explorer.views import palette
from explorer.views.marks import Marks, on_tap
from explorer.views.markup import count_bar, difference_bar
from explorer.views.partition import Partition
from explorer.views.viewport import Viewport

_GAP = 20
#: Pixels of the window's height beside the maps, and those of a panel below them.
TAKEN, PANEL = 262, 230


class MapPair:
    """Truth at the left, private map or difference at the right, linked.

    Parameters
    ----------
    state : ExploreState
    grid : Grid
    viewed : called after a pan, zoom or resize
    drawn : called with each dragged rectangle (x0, y0, x1, y1) in grid units
    tapped : called with the place x, y of each click in grid units, as the browser sent it
    """

    def __init__(
        self,
        state: ExploreState,
        grid: Grid,
        viewed: Callable[[], None],
        drawn: Callable[[tuple[float, float, float, float]], None],
        tapped: Callable[[Any, Any], None] = lambda _x, _y: None,
    ) -> None:
        self._state, self.grid = state, grid
        self.ranges = figures.LinkedRanges(grid.bounds)
        self.boxes = figures.QueryBoxes()
        self._leaves, self._edges = figures.partition_sources()
        shared = (self.ranges, self.boxes, self._leaves, self._edges)
        self.left = figures.MapView(*shared, unit=grid.unit, label="True map")
        self.right = figures.MapView(*shared, unit=grid.unit, label="Private map")
        self.marks = Marks()
        self._shown: Screen | None = None
        # What is said of the picture that stands in place of the screen's, if one does.
        self._cover = ""
        self._titles = [_html(), _html()]
        self.bar = pn.pane.HTML(stylesheets=[CSS], sizing_mode="stretch_width", margin=0)
        for view in (self.left, self.right):
            view.on_view(viewed)
            view.on_box(drawn)
            self.marks.draw_on(view.figure)
            on_tap(view.figure, tapped)
        self.view = side_by_side((self.left, self.right), self._titles, self.bar, grid)
        self.restyle()

    def make_room(self, room: bool) -> None:
        """Shrink the maps so that a panel below them stands in the window too, or grow again."""
        leave(self.view, self.grid, TAKEN + (PANEL if room else 0))

    def viewport(self) -> Viewport:
        """What the browser shows now; before it has answered, the whole grid at a usual size."""
        return visible(self.right, self.ranges, self.grid)

    def show(self, screen: Screen) -> None:
        """Put a computed screen on the maps; what did not change is not sent again."""
        old = self._shown
        if old is None or old.left_bytes is not screen.left_bytes:
            self.left.show_image(screen.left_bytes, screen.view)
        if old is None or old.look.right != screen.look.right:
            self.restyle()
        if not self._cover:
            self.right.show_image(screen.right_bytes, screen.view)
            if old is None or old.partition is not screen.partition:
                figures.show_partition(self._leaves, self._edges, screen.partition, screen.view)
        self._shown = screen
        self._push()

    def cover(
        self, picture: NDArray[np.uint8], drawn: Partition, view: Viewport, said: str
    ) -> None:
        """Show another picture and partition until `uncover`; ``said`` stands above the map."""
        self._cover = said
        self.right.show_image(picture, view)
        figures.show_partition(self._leaves, self._edges, drawn, view)
        if self._shown is not None:
            self.caption(self._shown)
        self._push()

    def uncover(self) -> None:
        """Show the screen again after `cover`."""
        if not self._cover:
            return
        self._cover = ""
        if self._shown is not None:
            shown = self._shown
            self.right.show_image(shown.right_bytes, shown.view)
            figures.show_partition(self._leaves, self._edges, shown.partition, shown.view)
            self.caption(shown)
        self._push()

    def restyle(self) -> None:
        """Apply palette, overlays and what a drag does; no picture is computed."""
        state = self._state
        colours = palette.PALETTES[state.palette]
        self.left.recolour(colours)
        difference = state.right == "difference"
        self.right.recolour(palette.DIFFERENCE if difference else colours)
        over = state.partition_over if state.partition else ""
        self.left.show_partition(over in ("truth", "both"))
        self.right.show_partition(over in ("private", "both"))
        for view in (self.left, self.right):
            view.drag(state.drag)
        self._push()

    def caption(self, screen: Screen, busy: bool = False) -> None:
        """Titles, colour bar and the spoken names of both maps."""
        right = screen.look.right.capitalize()
        kind = self._cover or (PREVIEW if screen.release.preview else DRAWN)
        _set(self._titles[0], _title("Truth", CURATOR))
        _set(self._titles[1], _title(right, "computing …" if busy else kind))
        _set(self.bar, _bars(screen, palette.PALETTES[self._state.palette]))
        place = screen.data.title
        self.left.describe(f"True map of {place}; {CURATOR}; the table of boxes tells its numbers")
        covered = f"; {self._cover}" if self._cover else ""
        numbers = "the table of boxes tells its numbers"
        self.right.describe(f"{right} map of {place}{covered}; {numbers}")

    def zoom(self, factor: float) -> None:
        """Zoom about the centre, below 1 inwards; 0 shows the whole grid again."""
        if factor:
            self.ranges.zoom(factor)
        else:
            self.ranges.reset(self.grid.bounds)

    def highlight(self, boxes: Any, names: Sequence[str], selected: Sequence[int]) -> None:
        """Draw the rectangles on both maps."""
        self.boxes.show(boxes, names, selected)
        self._push()

    def mark(self, leaves: NDArray[np.float64]) -> None:
        """Mark the leaves (k, 4) that selected rectangles cut through."""
        self.marks.show_cut(leaves)
        self._push()

    def outline(self, node: tuple[float, float, float, float] | None) -> None:
        """Outline one node on both maps, or none."""
        self.marks.show_node(node)
        self._push()

    def _push(self) -> None:
        """In a notebook, send what changed in the figures; a server does so by itself."""
        if pn.state.curdoc is None:
            pn.io.push_notebook(self.view)


def visible(view: figures.MapView, ranges: figures.LinkedRanges, grid: Grid) -> Viewport:
    """What the browser shows of a map; before it has answered, the whole grid at a usual size."""
    try:
        width, height = view.figure.inner_width, view.figure.inner_height
    except UnsetValueError:
        return Viewport.whole(grid)
    # A map that is not laid out yet reports 0.
    if not min(width or 0, height or 0) > 0:
        return Viewport.whole(grid)
    return Viewport.of(ranges.bounds, width, height, grid)


def side_by_side(
    views: Sequence[figures.MapView], heads: Sequence[Any], bar: Any, grid: Grid, taken: int = TAKEN
) -> Any:
    """Two maps below their heads, one bar below both; on a narrow screen one map above the other.

    The maps share what the window leaves beside and below them: ``taken`` pixels of its height go
    to the rest. Bar and maps end together.
    """
    aspect = grid.width / grid.height
    cards = []
    for view, head in zip(views, heads, strict=True):
        view.figure.aspect_ratio = aspect
        pane = pn.pane.Bokeh(view.figure, sizing_mode="scale_width", aspect_ratio=aspect, margin=0)
        cards.append(pn.Column(head, pane, margin=0, sizing_mode="stretch_width"))
    both = pn.Column(
        ui.wrapping(*cards, gap=f"8px {_GAP}px"), bar, sizing_mode="stretch_width", margin=0
    )
    leave(both, grid, taken)
    return both


def leave(both: Any, grid: Grid, taken: int) -> None:
    """Leave ``taken`` pixels of the window's height to what stands beside the two maps."""
    aspect = grid.width / grid.height
    widest = f"min(760px, max(340px, calc((100vh - {taken}px) * {aspect:.4f})))"
    both.styles = {"max-width": f"calc(2 * {widest} + {_GAP}px)"}
    for card in both[0]:
        card.styles = {"flex": "1 1 300px", "max-width": widest}


class MapTools:
    """Buttons above the maps: what a drag does, zoom in, zoom out, the whole map.

    ``zoom`` is called with a factor: below 1 inwards, above 1 outwards, 0 for the whole map.
    """

    def __init__(
        self,
        state: ExploreState,
        zoom: Callable[[float], None],
        refused: Callable[[str], None],
        *,
        phone: bool,
    ) -> None:
        self._zoom = zoom
        modes = {"Draw": "draw", "Move": "move"}
        if phone:
            # One finger scrolls the page until a person asks to draw.
            modes["Scroll"] = "scroll"
        self.mode = ui.RadioButtonGroup(
            label="A drag on a map",
            options=modes,
            value=state.drag,
            size="small",
            margin=0,
            stylesheets=[SPOKEN_LABEL],
        )
        ui.bind(self.mode, lambda value: state.put(drag=value), refused)
        self.view = pn.Row(
            self.mode,
            self._button("Zoom in", 0.5),
            self._button("Zoom out", 2.0),
            self._button("Whole map", 0.0),
            margin=0,
        )

    def _button(self, text: str, factor: float) -> Any:
        return ui.Button(
            label=text,
            variant="text",
            size="small",
            margin=(0, 0, 0, 4),
            on_click=lambda _event: self._zoom(factor),
        )


def _bars(screen: Screen, colours: Sequence[str]) -> str:
    """One bar under both maps; in difference mode each map has its own."""
    grid = screen.data.grid
    cell = f"{grid.cell_width:,.0f} m cell" if grid.unit == "m" else "cell"
    source = "from the exact data" if screen.scale.source == "data" else "from the release"
    kind = {"log": "logarithmic", "linear": "linear"}[screen.scale.kind]
    counts = count_bar(f"Points per {cell} ({kind}, scale {source})", screen.scale, colours)
    if screen.look.right != "difference":
        return counts
    difference = difference_bar(
        f"Private − true per {cell}: blue too few, orange too many", screen.scale
    )
    return f'<div class="bars">{counts}{difference}</div>'


def _title(title: str, subtitle: str) -> str:
    return f"<h2>{title}</h2><p>{subtitle}</p>"


def _html() -> Any:
    return pn.pane.HTML("", stylesheets=[CSS], sizing_mode="stretch_width", margin=(0, 0, 4, 0))


def _set(pane: Any, text: str) -> None:
    if pane.object != text:
        pane.object = text
