"""The two private maps of Compare, linked, with one colour scale; a third next to them if asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from explorer.app.boxes.chips import count, said, together
from explorer.app.compare.pair import Pair, figures_of
from explorer.app.curator.answers import BoxAnswers
from explorer.app.curator.chips import chips
from explorer.app.curator.maps import colours_of, counts_bar, errors_bar
from explorer.app.curator.price import of_truth
from explorer.app.curator.screen import Screen
from explorer.app.kit.labels import CURATOR, HIDDEN, PREVIEW
from explorer.app.kit.map_parts import Box, MapSpec, Tag
from explorer.app.kit.maps import Maps
from explorer.app.state.compare import CompareState
from explorer.grid.grid import Grid
from explorer.views import palette
from explorer.views.markup import difference_bar, figures_strip

#: The figures above each map take space as well.
_TAKEN = 242


class PrivatePair(Maps):
    """A at the left, B at the right: private maps with partitions, or their differences from truth.

    What the state names as the third map is next to them; otherwise nothing of it is sent.

    Parameters
    ----------
    state : CompareState
    grid : Grid
    viewed : called after a pan, zoom or resize
    drawn : called with each dragged rectangle (x0, y0, x1, y1) in grid units
    """

    def __init__(
        self,
        state: CompareState,
        grid: Grid,
        viewed: Callable[[], None],
        drawn: Callable[[Box], None],
    ) -> None:
        specs = [
            MapSpec(grid, f"Private map {letter}", partition=i) for i, letter in enumerate("AB")
        ]
        self.third = state.third
        if self.third != "none":
            specs.append(MapSpec(grid, "True map" if self.third == "truth" else "B minus A"))
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
        if self.third == "change" or (self.third == "truth" and self.truth):
            picture = pair.a.left_bytes if self.third == "truth" else pair.change
            self.views[2].show_image(picture, pair.a.view)

    def restyle(self) -> None:
        """Apply palette, partition and what a drag does; no picture is computed."""
        state = self._state
        for view in self.views[:2]:
            view.recolour(colours_of(state, self.truth))
            view.show_partition(state.partition)
        for view in self.views[2:]:
            truth = self.third == "truth"
            view.recolour(palette.PALETTES[state.palette] if truth else palette.DIFFERENCE)
            view.show_partition(False)
        for view in self.views:
            view.drag(state.drag)

    def caption(self, pair: Pair, busy: bool = False) -> None:
        """Titles with their figures, colour bars and the spoken names of both maps."""
        for i, (letter, screen) in enumerate((("A", pair.a), ("B", pair.b))):
            quantity = shows(screen)
            kind = CURATOR.capitalize() if screen.look.right == "difference" else PREVIEW
            about = "computing …" if busy else f"{quantity}. {kind}"
            strip = figures_strip(figures_of(screen, self.truth), "four")
            self.title(i, f"{letter}: {screen.title}", f"<p>{about}</p>{strip}")
            self.views[i].describe(
                f"Private map {letter}: {quantity} by {screen.title} of {screen.data.title}; "
                "the table of boxes gives its numbers"
            )
            self.explain(i, bar(pair.a, self._state.palette))
        if self.third != "none":
            self.explain(2, self._caption_third(pair))

    def show_truth(self, visible: bool) -> None:
        """Send the map of exact counts, if there is one, or take all exact pictures away."""
        super().show_truth(visible)
        screen = self._shown[0]
        if self.third == "truth":
            self.frame[0][2].visible = visible
            self._leave(self._left)
            if visible and screen is not None:
                self.views[2].show_image(screen.left_bytes, screen.view)
        if not visible and screen is not None and screen.look.exact:
            for view in self.views:
                view.clear()

    def tags(
        self, a: BoxAnswers, b: BoxAnswers, names: Sequence[str], exact: bool = True
    ) -> list[list[Tag]]:
        """Tags of boxes on each map in turn; without ``exact`` they say nothing of the truth."""
        quantity = self._state.right
        tags = [chips(quantity, names, answers, exact) for answers in (a, b)]
        if self.third == "truth":
            tags.append(chips("true", names, a, exact))
        elif self.third == "change":
            change = zip(names, b.private - a.private, strict=True)
            tags.append([(_changed(*pair), palette.PRIVATE) for pair in change])
        return together(names, "AB", tags) if self.swiped else tags

    def _caption_third(self, pair: Pair) -> str:
        """Title and spoken name of the third map; returns its bar."""
        place, hint = pair.a.data.title, "the table of boxes gives its numbers"
        if self.third == "truth":
            of = of_truth(pair.a.data.matrix)
            about = CURATOR.capitalize() if self.truth else HIDDEN
            self.title(2, f"Truth{of}", f"<p>{about}</p>")
            self.views[2].describe(f"True map of {place}{of}; {about}; {hint}")
            return counts_bar(pair.a, self._state.palette)
        self.title(2, "B − A", f"<p>{PREVIEW}</p>")
        self.views[2].describe(f"Private counts of B minus those of A, {place}; {hint}")
        return difference_bar("B − A", pair.a.scale, "blue B has fewer, orange B has more")


def _changed(name: str, change: float) -> str:
    return f"{said(name, float('nan')).partition('  ')[0]}  {count(change, sign=True)}"


def shows(screen: Screen) -> str:
    """What a map shows, in two words or three."""
    return "Private minus true counts" if screen.look.right == "difference" else "Private counts"


def bar(screen: Screen, colours: str) -> str:
    """The bar of A and of B, which have one scale."""
    different = screen.look.right == "difference"
    return errors_bar(screen) if different else counts_bar(screen, colours)
