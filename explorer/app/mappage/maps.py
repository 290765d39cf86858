"""Maps that panels can cover, the two linked maps of a city, and a cross-hair through them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from bokeh.models import CrosshairTool, Span
from numpy.typing import NDArray

from explorer.app.curator.data import CityData, same_extent
from explorer.app.curator.price import of_truth
from explorer.app.curator.screen import Screen
from explorer.app.kit import ui
from explorer.app.kit.labels import CURATOR, DRAWN, HIDDEN, PREVIEW
from explorer.app.kit.map_parts import Box, MapSpec, nothing
from explorer.app.kit.maps import Maps
from explorer.app.kit.numbers import finite
from explorer.app.state import ExploreState
from explorer.app.work.document import soon
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.views import palette
from explorer.views.gestures import Pointer
from explorer.views.markup import count_bar, difference_bar
from explorer.views.partition import Partition
from explorer.views.pictures import BY
from explorer.views.viewport import Viewport

#: The key, see `Keys`.
READ = "c"


class CrossHair:
    """Off until someone asks: every move of the pointer is then answered, the last one of many.

    Parameters
    ----------
    ask : from a place x, y in grid units to what is next to the title of each map
    """

    def __init__(self, ask: Callable[[float, float], Sequence[str]]) -> None:
        self._ask = ask
        self.on = False
        self._maps: Any = None
        self._tools: list[CrosshairTool] = []
        self._place: tuple[Any, Any] | None = None
        self._waits = False
        self.pointer = Pointer(self._moved)
        self.button = ui.Button(
            label="Read cells",
            variant="text",
            size="small",
            margin=(0, 0, 0, 4),
            on_click=lambda _event: self.toggle(),
        )

    def take(self, maps: Any) -> None:
        self._maps = maps
        across, up = (
            Span(dimension=name, line_color=palette.HOVER, line_width=1)
            for name in ("width", "height")
        )
        self._tools = [CrosshairTool(overlay=(across, up)) for _ in maps.views]
        for view in maps.views:
            self.pointer.listen_on(view.figure)
        if self.on:
            self._switch()

    def pressed(self, key: str) -> bool:
        if key == READ:
            self.toggle()
        return key == READ

    def toggle(self) -> None:
        self.on = not self.on
        self.button.label = "Stop reading" if self.on else "Read cells"
        if self._maps is not None:
            self._switch()

    def _switch(self) -> None:
        for view, tool in zip(self._maps.views, self._tools, strict=True):
            others = [other for other in view.figure.tools if other is not tool]
            view.figure.tools = [*others, tool] if self.on else others
        self.pointer.switch(self.on)
        if not self.on:
            self._maps.read(None)
        self._maps.push()

    def _moved(self, x: Any, y: Any) -> None:
        """The pointer is at a place of a map, or with None has left it."""
        if not self.on:
            return
        self._place = None if x is None else (x, y)
        if not self._waits:
            self._waits = True
            soon(self._say)

    def _say(self) -> None:
        self._waits = False
        if self._place is None or not self.on:
            self._maps.read(None)
            return
        try:
            x, y = (finite(coordinate, "A place") for coordinate in self._place)
        except InputError:
            return
        self._maps.read(self._ask(x, y))


def cell_at(grid: Grid, x: float, y: float) -> tuple[int, int] | None:
    """Row and column of the cell that holds a place in grid units; None outside the grid."""
    x0, y0, x1, y1 = grid.bounds
    if not (x0 <= x < x1 and y0 <= y < y1):
        return None
    row, column = int((y - y0) / grid.cell_height), int((x - x0) / grid.cell_width)
    return min(row, grid.shape[0] - 1), min(column, grid.shape[1] - 1)


def read_cell(data: Any, releases: Sequence[Any], x: float, y: float) -> tuple[int, list[float]]:
    """The true count of the cell that holds a place, and what each release says of it.

    Raises
    ------
    InputError
        For a place outside the grid.
    """
    grid = data.grid
    index = cell_at(grid, x, y)
    if index is None:
        raise InputError("This place lies outside the map.")
    row, column = index
    cell = np.array([[[row, column], [row + 1, column + 1]]], dtype=float)
    box = grid.from_cells(cell)
    private = [float(release.answer(box).value[0]) for release in releases]
    return int(data.every.counts[row, column]), private


class CoveredMaps(Maps):
    """Maps with a screen on them, which a panel may cover with a release that its `paint` painted.

    Those of a page add `draw`, `caption` and `cover`, which takes what `paint` returns, in its
    order, and what is to be read next to the pictures.
    """

    # The last screen, and what is said of the pictures that are in place of its own.
    _shown: Any = None
    _cover: str = ""
    #: The map that nothing covers, if there is one.
    ALWAYS: int | None = None
    #: Called when they are covered or uncovered: what was said of the screen is not said of them.
    on_cover: Callable[[], None] = staticmethod(nothing)

    @property
    def covered(self) -> frozenset[int]:
        """Which maps show something else than the screen."""
        return frozenset(range(len(self.views)) if self._cover else ()) - {self.ALWAYS}

    @abstractmethod
    def seen(self) -> Any:
        """What the browser shows now, as a job for a screen takes it."""

    @abstractmethod
    def draw(self, *painted: Any) -> None:
        """Put pictures on the maps."""

    @abstractmethod
    def caption(self, screen: Any) -> None:
        """Titles, colour bar and the spoken names of the maps."""

    def use(self, data: Any) -> None:
        """Other data on the same ground: their cells may be other ones."""

    def uncover(self) -> None:
        """Show the screen again after `cover`."""
        if self._cover:
            painted = () if self._shown is None else self._shown.painted
            self._cover_by("", *painted)

    def _cover_by(self, heading: str, *painted: Any) -> None:
        before, self._cover = bool(self._cover), heading
        if painted:
            self.draw(*painted)
        if self._shown is not None:
            self.caption(self._shown)
        if before != bool(heading):
            self.on_cover()
        self.push()


#: What the colours of a difference say.
SIDES = "blue too few, orange too many"
_TOLD = "the table of boxes gives its numbers"


class MapPair(CoveredMaps):
    """Two linked maps over one grid.

    Parameters
    ----------
    state : ExploreState
    grid : Grid
    viewed : called after a pan, zoom or resize
    drawn : called with each dragged rectangle (x0, y0, x1, y1) in grid units
    tapped : called with the place x, y of each click in grid units, as the browser sent it
    """

    ALWAYS = 0

    def __init__(
        self,
        state: ExploreState,
        grid: Grid,
        viewed: Callable[[], None],
        drawn: Callable[[Box], None],
        tapped: Callable[[Any, Any], None] = lambda _x, _y: None,
    ) -> None:
        specs = [MapSpec(grid, "True map"), MapSpec(grid, "Private map")]
        super().__init__(
            specs, viewed, lambda _place, box: drawn(box), lambda _place, x, y: tapped(x, y)
        )
        self._state = state
        self.left, self.right = self.views
        self.restyle()

    def use(self, data: CityData) -> None:
        self.grid = data.grid

    def seen(self) -> Viewport:
        return self.viewport()

    def show(self, screen: Screen) -> None:
        old: Screen | None = self._shown
        if self.truth and (old is None or old.left_bytes is not screen.left_bytes):
            self.left.show_image(screen.left_bytes, screen.view)
        if old is None or old.look.right != screen.look.right:
            self.restyle()
        if not self._cover:
            self.right.show_image(screen.right_bytes, screen.view)
            if old is None or old.partition is not screen.partition:
                self.show_partition(0, screen.partition, screen.view)
        self._shown = screen
        self.push()

    def show_truth(self, visible: bool) -> None:
        super().show_truth(visible)
        screen: Screen | None = self._shown
        if screen is None:
            return
        if visible:
            self.left.show_image(screen.left_bytes, screen.view)
        else:
            self.left.clear()
            if screen.look.exact:
                self.right.clear()
        self.caption(screen)

    def cover(
        self, picture: NDArray[np.uint8], drawn: Partition, view: Viewport, heading: str
    ) -> None:
        """Show another picture and partition until `uncover`; ``heading`` is above the map."""
        self._cover_by(heading, picture, drawn, view)

    def draw(self, picture: NDArray[np.uint8], drawn: Partition, view: Viewport) -> None:
        self.right.show_image(picture, view)
        self.show_partition(0, drawn, view)

    def restyle(self) -> None:
        state = self._state
        self.left.recolour(palette.PALETTES[state.palette])
        self.right.recolour(colours_of(state, self.truth))
        over = state.partition_over if state.partition else ""
        self.left.show_partition(over in ("truth", "both"))
        self.right.show_partition(over in ("private", "both"))
        for view in self.views:
            view.drag(state.drag)
        self.push()

    def caption(self, screen: Screen, busy: bool = False) -> None:
        right = screen.look.right.capitalize()
        kind = self._cover or (PREVIEW if screen.release.preview else DRAWN)
        of, about = of_truth(screen.data.matrix), CURATOR.capitalize() if self.truth else HIDDEN
        self.title(0, f"Truth{of}", f"<p>{about}</p>")
        counts = other = counts_bar(screen, self._state.palette)
        if screen.look.right == "difference":
            other = errors_bar(screen)
        elif screen.leaf_scale is not None:
            label = BY[screen.look.by][0]
            if screen.look.by == "error":
                kind = f"{kind}; {CURATOR}"
            other = count_bar(label, screen.leaf_scale, palette.PALETTES[self._state.palette])
        self.explain(0, counts)
        self.explain(1, other)
        self.title(1, right, f"<p>{'computing …' if busy else kind}</p>")
        place = screen.data.title
        self.left.describe(f"True map of {place}{of}; {about}; {_TOLD}")
        covered = f"; {self._cover}" if self._cover else ""
        self.right.describe(f"{right} map of {place}{covered}; {_TOLD}")


def same_ground(maps: MapPair, data: CityData) -> bool:
    """Whether a city can be shown on maps that are there: its cells may differ."""
    return same_extent(maps.grid, data.grid)


def colours_of(state: ExploreState, truth: bool = True) -> tuple[str, ...]:
    """The colours of private maps as the visitor has chosen them; no differences without truth."""
    different = truth and state.right == "difference"
    return palette.DIFFERENCE if different else palette.PALETTES[state.palette]


def counts_bar(screen: Screen, colours: str) -> str:
    """The bar of a map of counts."""
    source = "from the exact data" if screen.scale.source == "data" else "from the release"
    kind = {"log": "logarithmic", "linear": "linear"}[screen.scale.kind]
    label, note = f"Points per {_cell(screen.data.grid)}", f"{kind}, scale {source}"
    return count_bar(label, screen.scale, palette.PALETTES[colours], note)


def errors_bar(screen: Screen) -> str:
    """The bar of a map of private minus true counts."""
    text = f"Private − true per {_cell(screen.data.grid)}"
    return difference_bar(text, screen.scale, SIDES)


def _cell(grid: Grid) -> str:
    return f"{grid.cell_width:,.0f} m cell" if grid.unit == "m" else "cell"
