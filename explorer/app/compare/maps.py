"""The two private maps of Compare, linked, with one colour scale and one bar."""

from __future__ import annotations

from collections.abc import Callable

from explorer.app.compare.pair import Pair, figures_of
from explorer.app.curator.maps import colours_of, counts_bar, errors_bar
from explorer.app.curator.screen import Screen
from explorer.app.kit.html import put
from explorer.app.kit.labels import CURATOR, PREVIEW
from explorer.app.kit.maps import Box, Maps, MapSpec
from explorer.app.state.explore import ExploreState
from explorer.grid.grid import Grid
from explorer.views.markup import figures_strip

#: The figures above each map take room as well.
_TAKEN = 232


class PrivatePair(Maps):
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
        drawn: Callable[[Box], None],
    ) -> None:
        specs = [MapSpec(grid, f"Private map {each}", partition=i) for i, each in enumerate("AB")]
        super().__init__(specs, viewed, lambda _place, box: drawn(box), taken=_TAKEN)
        self._state = state
        self._shown: list[Screen | None] = [None, None]
        self.restyle()

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
                self.show_partition(i, screen.partition, screen.view)
            self._shown[i] = screen

    def restyle(self) -> None:
        """Apply palette, partition and what a drag does; no picture is computed."""
        for view in self.views:
            view.recolour(colours_of(self._state))
            view.show_partition(self._state.partition)
            view.drag(self._state.drag)

    def caption(self, pair: Pair, busy: bool = False) -> None:
        """Titles with their figures, colour bar and the spoken names of both maps."""
        for i, (letter, screen) in enumerate((("A", pair.a), ("B", pair.b))):
            shown = shows(screen)
            about = "computing …" if busy else f"{shown}. {PREVIEW}"
            strip = figures_strip(figures_of(screen), "four")
            self.title(i, f"{letter}: {screen.title}", f"<p>{about}</p>{strip}")
            self.views[i].describe(
                f"Private map {letter}: {shown} by {screen.title} of {screen.data.title}; "
                "the table of boxes gives its numbers"
            )
        put(self.bar, bar(pair.a, self._state.palette))


def shows(screen: Screen) -> str:
    """What a map shows, in two words or three."""
    return "Private minus true counts" if screen.look.right == "difference" else "Private counts"


def bar(screen: Screen, colours: str) -> str:
    """The one bar below both maps."""
    if screen.look.right == "difference":
        return errors_bar(screen, f" on both maps ({CURATOR})")
    return counts_bar(screen, colours, " on both maps")
