"""The two private maps of Compare, linked, with one colour scale and one bar."""

from __future__ import annotations

from collections.abc import Callable

from explorer.app.compare.pair import Pair, figures
from explorer.app.curator.maps import side_by_side, visible
from explorer.app.curator.screen import Screen
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.labels import CURATOR, PREVIEW
from explorer.app.state.explore import ExploreState
from explorer.grid.grid import Grid
from explorer.views import maps as drawing
from explorer.views import palette
from explorer.views.markup import count_bar, difference_bar, figures_strip
from explorer.views.viewport import Viewport


class PrivatePair:
    """A at the left, B at the right: private maps with partitions, or their differences from truth.

    Parameters
    ----------
    state : ExploreState
    grid : Grid
    viewed : called after a pan, zoom or resize
    drawn : called with each dragged rectangle (x0, y0, x1, y1) in grid units
    """

    def __init__(
        self,
        state: ExploreState,
        grid: Grid,
        viewed: Callable[[], None],
        drawn: Callable[[tuple[float, float, float, float]], None],
    ) -> None:
        self._state, self.grid = state, grid
        self.ranges = drawing.LinkedRanges(grid.bounds)
        self.boxes = drawing.QueryBoxes()
        self._partitions = [drawing.partition_sources() for _ in "AB"]
        self.views = [
            drawing.MapView(
                self.ranges, self.boxes, *sources, unit=grid.unit, label=f"Private map {letter}"
            )
            for letter, sources in zip("AB", self._partitions, strict=True)
        ]
        self.heads = [html_pane(margin=(0, 0, 4, 0)) for _ in "AB"]
        self.bar = html_pane()
        for view in self.views:
            view.on_view(viewed)
            view.on_box(drawn)
        self.view = side_by_side(self.views, self.heads, self.bar, grid, taken=300)
        self._shown: list[Screen | None] = [None, None]
        self.restyle()

    def viewport(self) -> Viewport:
        """What the browser shows now; before it has answered, the whole grid at a usual size."""
        return visible(self.views[1], self.ranges, self.grid)

    def show(self, pair: Pair) -> None:
        """Put two computed screens on the maps; what did not change is not sent again."""
        before = self._shown[0]
        if before is None or before.look.right != pair.a.look.right:
            self.restyle()
        for i, screen in enumerate((pair.a, pair.b)):
            old = self._shown[i]
            if old is not screen:
                self.views[i].show_image(screen.right_bytes, screen.view)
            if old is None or old.partition is not screen.partition:
                drawing.show_partition(*self._partitions[i], screen.partition, screen.view)
            self._shown[i] = screen

    def restyle(self) -> None:
        """Apply palette, partition and what a drag does; no picture is computed."""
        colours = colours_of(self._state)
        for view in self.views:
            view.recolour(colours)
            view.show_partition(self._state.partition)
            view.drag(self._state.drag)

    def caption(self, pair: Pair, busy: bool = False) -> None:
        """Titles with their figures, colour bar and the spoken names of both maps."""
        for i, (letter, screen) in enumerate((("A", pair.a), ("B", pair.b))):
            shown = shows(screen)
            about = "computing …" if busy else f"{shown}. {PREVIEW}"
            title = f"<h2>{letter}: {screen.title}</h2><p>{about}</p>"
            put(self.heads[i], title + figures_strip(figures(screen), "four"))
            self.views[i].describe(
                f"Private map {letter}: {shown} by {screen.title} of {screen.data.title}; "
                "the table of boxes tells its numbers"
            )
        put(self.bar, bar(pair.a, self._state.palette))

    def zoom(self, factor: float) -> None:
        """Zoom about the centre, below 1 inwards; 0 shows the whole grid again."""
        if factor:
            self.ranges.zoom(factor)
        else:
            self.ranges.reset(self.grid.bounds)


def shows(screen: Screen) -> str:
    """What a map shows, in two words or three."""
    return "Private minus true counts" if screen.look.right == "difference" else "Private counts"


def colours_of(state: ExploreState) -> tuple[str, ...]:
    """The colours of the maps as the visitor has chosen them."""
    return palette.DIFFERENCE if state.right == "difference" else palette.PALETTES[state.palette]


def bar(screen: Screen, colours: str) -> str:
    """The one bar below both maps."""
    grid = screen.data.grid
    cell = f"{grid.cell_width:,.0f} m cell" if grid.unit == "m" else "cell"
    if screen.look.right == "difference":
        said = f"Private − true per {cell} on both maps: blue too few, orange too many"
        return difference_bar(f"{said} ({CURATOR})", screen.scale)
    kind = {"log": "logarithmic", "linear": "linear"}[screen.scale.kind]
    said = f"Points per {cell} on both maps ({kind}, scale from the exact data)"
    return count_bar(said, screen.scale, palette.PALETTES[colours])
