"""The two maps of Explore: truth at the left, private map or difference at the right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.covered import CoveredMaps
from explorer.app.curator.price import of_truth
from explorer.app.curator.screen import Screen
from explorer.app.kit.labels import CURATOR, DRAWN, HIDDEN, PREVIEW
from explorer.app.kit.map_parts import Box, MapSpec
from explorer.app.state import ExploreState
from explorer.grid.grid import Grid
from explorer.views import palette
from explorer.views.markup import count_bar, difference_bar
from explorer.views.partition import Partition
from explorer.views.pictures import BY
from explorer.views.viewport import Viewport

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

    def seen(self) -> Viewport:
        """What the browser shows of both maps, which move together."""
        return self.viewport()

    def show(self, screen: Screen) -> None:
        """Put a computed screen on the maps; what did not change is not sent again."""
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
        """Send the exact map, or take all pictures with exact counts away."""
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
        """Put a picture on the right map, and a partition on both."""
        self.right.show_image(picture, view)
        self.show_partition(0, drawn, view)

    def restyle(self) -> None:
        """Apply palette, overlays and what a drag does; no picture is computed."""
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
        """Titles, colour bars and the spoken names of both maps."""
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
