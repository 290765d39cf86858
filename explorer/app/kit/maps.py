"""Maps side by side: ranges that move together, titles, bars, boxes drawn over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import panel as pn
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.models import ColumnDataSource, CustomJS
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.app.kit import static, ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.later import next_turn
from explorer.app.kit.map_parts import Box, Editing, Handles, MapSpec, Tag
from explorer.app.kit.theme import SMALL, SPOKEN_LABEL, WINDOW
from explorer.grid.base_map import BaseMap
from explorer.grid.grid import Grid
from explorer.views.base_map import BaseLayer
from explorer.views.figures import share_models
from explorer.views.gestures import on_box, on_edit, on_reshape, on_tap, prepare
from explorer.views.lines import Lines
from explorer.views.maps import LinkedRanges, MapView
from explorer.views.marks import Marks
from explorer.views.partition import Partition
from explorer.views.query_boxes import QueryBoxes
from explorer.views.viewport import Viewport

#: ms a picture takes to fade; and within which others that come show at once.
LASTS, HURRY = 150, 300


def fade(figures: Sequence[figure], pictures: Sequence[ColumnDataSource]) -> None:
    """Let what each figure shows fade out whenever it is sent another of ``pictures``."""
    args = {"maps": [*figures], "pictures": [*pictures], "lasts": LASTS, "hurry": HURRY}
    script = CustomJS(args=args, code=static.read("fade.js"))
    for picture in pictures:
        picture.js_on_change("data", script)


class BaseMaps:
    """The base maps of maps side by side (`Maps`); those that move together share one."""

    def __init__(self, maps: Any) -> None:
        self._maps, self._wide = maps, False
        ranges = maps.all_ranges
        together = [[at for at, other in enumerate(ranges) if other is linked] for linked in ranges]
        self._groups = [group for at, group in enumerate(together) if group[0] == at]
        self.layers = [BaseLayer() for _ in self._groups]

    def put(self, bases: Sequence[BaseMap | None]) -> None:
        """Draw the base map of each place on its maps; none where there is none."""
        views = self._maps.views
        for layer, group in zip(self.layers, self._groups, strict=True):
            place = self._maps.places[group[0]]
            base = bases[place] if place < len(bases) else None
            layer.show(base, [views[at].figure for at in group])
            for at, drawn in zip(group, layer.drawn, strict=False):
                views[at].on_light(drawn.recolour)
        self.refit()

    def switch(self, on: bool) -> None:
        """Let them be seen, or not."""
        for layer in self.layers:
            layer.switch(on)

    def widen(self, wide: bool) -> None:
        """Larger names for a presentation, or the usual ones."""
        self._wide = wide
        for layer in self.layers:
            layer.widen(wide)
        self.refit()

    def refit(self, number: int | None = None) -> None:
        """Show the names that fit what a map, and those that move with it, show now; all for None.

        Where a bar is over a map no name can be read.
        """
        for layer, group in zip(self.layers, self._groups, strict=True):
            if not layer.drawn or (number is not None and number not in group):
                continue
            # Of a map that is hidden nothing is known.
            visible = next((at for at in group if self._maps.is_shown(at)), group[0])
            view = self._maps.viewport(visible if number is None else number)
            covered = self._maps.bars.taken(view.width, self._wide)
            layer.zoom((view.x0, view.y0, view.x1, view.y1), float(view.pixels_per_x), covered)


#: Pixels of a map's width below which it has no space for a bar, which then is below it, and
#: below which a bar has no space for its note.
LEAST, NOTED = 240, 330
_CSS = static.fill("map_bars.css", SMALL=SMALL, LEAST=LEAST, NOTED=NOTED)
#: Of the type of a bar: pixels in the narrowest window, pixels of a map's width there, and by how
#: much wider a map is whose type is a pixel larger; how much larger type is in a presentation.
_EM, _USUAL, _PER_PIXEL, _WIDE = 12.0, 450.0, 250.0, 1.35
#: Of the scale bar at the lower left: its part of the width, pixels next to it, pixels of height.
_SCALE = 0.3, 32.0, 46.0
Bounds = tuple[float, float, float, float]
#: Styles of what holds a map and its bar.
FRAME = {"position": "relative", "container-type": "inline-size"}


class MapBars:
    """A bar for each of ``k`` maps; those that say the same are spoken once."""

    def __init__(self, k: int) -> None:
        self.panes = [html_pane(sizing_mode=None, css=[_CSS]) for _ in range(k)]
        self._texts = [""] * k
        self._shown: Sequence[bool] = [True] * k
        self._swiped = False

    def explain(self, number: int, bar: str) -> None:
        """Put a bar of `views.markup` into the frame of a map."""
        self._texts[number] = bar
        self._show()

    def arrange(self, visible: Sequence[bool], swiped: bool) -> None:
        """Follow the maps: which of them are shown, and whether the second is over the first."""
        self._shown, self._swiped = visible, swiped
        self._show()

    @property
    def apart(self) -> bool:
        """Whether two different bars are in one frame: in one place neither could be read."""
        return self._swiped and len({*self._texts}) > 1

    def taken(self, width: float, wide: bool = False) -> list[Bounds]:
        """What bars cover of a map, x0, y0, x1, y1 in pixels from its lower left corner; or more.

        Names would run under them. A browser alone knows the size of its type, so that of a map's
        window is taken.

        Parameters
        ----------
        width : of the map, in pixels
        wide : whether its type is that of a presentation
        """
        part, more, high = _SCALE
        scale = (0.0, 0.0, part * width + more, high)
        if width <= LEAST:
            return [scale]
        em = _EM + min(max(width - _USUAL, 0) / _PER_PIXEL, 3)
        em *= _WIDE if wide else 1
        long = min(21 * em, 0.5 * width - 12 if self.apart else 0.7 * width - 36)
        # The note, where there is space for one, takes a second line, in a narrow bar a third.
        lines = 1 if width <= NOTED else 2 if long >= 18 * em else 3
        tall = 17 + 1.3 * em * (lines + 1)
        covered = [scale, (width - 6 - long, 0.0, width, 6 + tall)]
        if self.apart:
            covered.append((0.0, 50.0, 6 + long, 56 + tall))
        return covered

    def _show(self) -> None:
        texts, spoken = self._texts, set[str]()
        if self.apart:
            # The second map is over the bar of the first: both are in its frame.
            texts = ["", f'<div class="apart">{"".join(texts)}</div>']
        for number, (pane, text) in enumerate(zip(self.panes, texts, strict=True)):
            _dress(pane, ["apart"] * self.apart)
            again = text in spoken
            put(pane, f'<div aria-hidden="true">{text}</div>' if again else text)
            if self._shown[number]:
                spoken.add(text)


def _dress(pane: Any, classes: list[str]) -> None:
    if pane.css_classes != classes:
        pane.css_classes = classes


GAP = 20
#: Pixels of the window's height that what is above and below the maps takes on most pages.
TAKEN = 162
#: What the table of boxes, or the beginning of a panel, has of the window's height below the maps.
DOCK = f"max(150px, calc({WINDOW} * .2))"
#: The least width of a dock that is next to the maps.
BESIDE = 380


class Maps:
    """k maps below their titles, each with the bar that explains its colours.

    On a narrow screen they are one above the other. It knows pictures, not where they are from.

    Parameters
    ----------
    specs : what each map is
    viewed : called after a pan, zoom or resize
    drawn : called with the place of a map and each dragged rectangle (x0, y0, x1, y1) in its unit
    tapped : called with the place of a map and x, y of each click, as the browser sent them
    taken : pixels of the window's height that the rest of the page needs, but for the dock
    least : pixels of width that a map has in the lowest window, if the page is as wide
    """

    #: Whether exact counts may be sent.
    truth = True

    def __init__(
        self,
        specs: Sequence[MapSpec],
        viewed: Callable[[], None],
        drawn: Callable[[int, Box], None],
        tapped: Callable[[int, Any, Any], None] | None = None,
        *,
        taken: int = TAKEN,
        least: int = 260,
    ) -> None:
        self.grids = [spec.grid for spec in specs]
        self._drawn = drawn
        self._editing = Editing()
        #: The map whose selected box is being dragged, and whether we move an editor ourselves.
        self._held: int | None = None
        self._placing = False
        self._taken, self._least = taken, least
        extents: dict[Any, LinkedRanges] = {}
        #: What each map shows, the same object for those that move together.
        self.all_ranges = [
            extents.setdefault((g.bounds, g.crs), LinkedRanges(g.bounds)) for g in self.grids
        ]
        edges: dict[int, Box] = {}
        #: The number of each map among those of its place.
        self._among = [
            sum(other.place == spec.place for other in specs[:at]) for at, spec in enumerate(specs)
        ]
        #: Of each map.
        self.places = [spec.place for spec in specs]
        for spec in specs:
            # Of several maps of one place the first is the whole.
            edges.setdefault(spec.place, spec.grid.bounds)
        self.boxes = [QueryBoxes(edges[place], self.places.count(place)) for place in sorted(edges)]
        self.marks = [Marks() for _ in edges]
        self._partitions = [Lines() for _ in range(1 + max(spec.partition for spec in specs))]
        self.views: list[MapView] = []
        for spec, ranges, number in zip(specs, self.all_ranges, self._among, strict=True):
            shared = self.boxes[spec.place], self._partitions[spec.partition]
            view = MapView(ranges, *shared, unit=spec.grid.unit, label=spec.label, number=number)
            on_view = partial(self._viewed, len(self.views), viewed)
            view.on_view(partial(next_turn, on_view))
            on_box(view.figure, partial(self._dragged, spec.place))
            on_edit(view.editor, partial(self._edited, len(self.views), view.editor))
            polygon = view.polygon_editor
            on_reshape(polygon, partial(self._edited, len(self.views), polygon))
            view.sketch.tell(partial(self._sketched, spec.place))
            self.marks[spec.place].draw_on(view.figure, above=view.lines.boxes)
            if tapped is not None:
                self._on_tap(view, partial(tapped, spec.place))
            self.views.append(view)
        figures = [view.figure for view in self.views]
        prepare(figures, [t for view in self.views for t in (view.editor, view.polygon_editor)])
        fade(figures, [view.image for view in self.views])
        share_models(figures)
        self.heads = [html_pane(margin=(0, 0, 2, 0)) for _ in specs]
        self.bars = MapBars(len(specs))
        #: A line about all of them, where a page says one.
        self.below = html_pane()
        self.frame = self._layout()
        #: The maps with what belongs to them, and whatever a page puts next to them.
        self.view = self.frame
        self._around: Any = None
        self._swiped = False
        self._titles: dict[int, tuple[str, str]] = {}
        self.base = BaseMaps(self)
        self._leave(DOCK)

    @property
    def grid(self) -> Grid:
        """The grid of the first map."""
        return self.grids[0]

    @grid.setter
    def grid(self, grid: Grid) -> None:
        """Other cells of the same extent, on every map."""
        self.grids = [grid for _ in self.grids]

    @property
    def ranges(self) -> LinkedRanges:
        """What the first map shows."""
        return self.all_ranges[0]

    def viewport(self, number: int = -1) -> Viewport:
        """What the browser shows now; before it has answered, the whole grid at a usual size."""
        if number < 0:
            # Those that move together show the same; of one that is hidden nothing is known.
            number = max(at for at in range(len(self.views)) if self.is_shown(at))
        grid, view = self.grids[number], self.views[number]
        try:
            width, height = view.figure.inner_width, view.figure.inner_height
        except UnsetValueError:
            return Viewport.whole(grid)
        # A map that is not laid out yet reports 0.
        if not min(width or 0, height or 0) > 0:
            return Viewport.whole(grid)
        return Viewport.of(self.all_ranges[number].bounds, width, height, grid)

    def is_shown(self, number: int) -> bool:
        """Whether a map is on the screen."""
        return bool(self._side_by_side[number].visible)

    def _viewed(self, number: int, viewed: Callable[[], None]) -> None:
        if number < len(self.views):
            self._rescale(number)
        viewed()

    def _rescale(self, number: int) -> None:
        """Tags and names are as large as before on another scale."""
        # Of maps that show the same boxes on other scales the first decides.
        if self._among[number] == 0:
            self.boxes[self.places[number]].zoom(float(self.viewport(number).pixels_per_x))
        self.base.refit(number)

    def zoom(self, factor: float) -> None:
        """Zoom about the centre, below 1 inwards; 0 shows the whole grids again."""
        by_ranges = {id(r): (r, g) for r, g in zip(self.all_ranges, self.grids, strict=True)}
        for ranges, grid in by_ranges.values():
            ranges.zoom(factor) if factor else ranges.reset(grid.bounds)
        # A browser tells of what it has zoomed itself.
        for number in range(len(self.views)):
            self._rescale(number)

    def show_partition(self, number: int, drawn: Partition, view: Viewport) -> None:
        """Put a prepared partition on the maps of that number."""
        self._partitions[number].show(drawn, view)

    def highlight(
        self,
        boxes: NDArray[Any],
        names: Sequence[str],
        selected: Sequence[int],
        held: bool = True,
        shapes: Sequence[Any] = (),
        handles: Handles | None = None,
    ) -> None:
        """Draw the rectangles: (n, 4), or (n, places, 4) with NaN where a row has none.

        One selected row has handles and can be dragged, if it is ``held``. ``shapes`` are the
        polygons that rows represent, and ``handles`` what can be dragged of a selected one.
        """
        rows = boxes.reshape(len(names), len(self.boxes), 4)
        marked = handles.corners if handles is not None and held else np.zeros((0, 2))
        for place, source in enumerate(self.boxes):
            source.show(rows[:, place], names, selected, held, shapes, marked)
        self._place_editors(rows, selected if held else (), handles)
        self.push()

    def let_edit(self, editing: Editing) -> None:
        """Tell of boxes while they are dragged, of changes to the selected one, and of clicks."""
        self._editing = editing
        for view, place in zip(self.views, self.places, strict=True):
            self._on_tap(view, partial(editing.clicked, place))

    @staticmethod
    def _on_tap(view: MapView, tapped: Callable[[Any, Any], None]) -> None:
        """Tell of clicks that are no corners of a polygon."""
        on_tap(view.figure, lambda x, y: None if view.sketch.on else tapped(x, y))

    def draft(self, place: int, box: Box | None, tags: Sequence[Tag] = ()) -> None:
        """Show the tags of the box that is being dragged on maps of a place, or none."""
        if box is not None:
            of = [tag for tag, at in zip(tags, self.places, strict=True) if at == place]
            self.boxes[place].say_draft(box, of)
        for view, at in zip(self.views, self.places, strict=True):
            view.draft.visible = box is not None and at == place
        self.push()

    def forget_drafts(self) -> None:
        """No browser keeps what was said of the last box that was dragged."""
        for boxes in self.boxes:
            boxes.forget_draft()
        self.push()

    def _dragged(self, place: int, box: Box, final: bool) -> None:
        self._editing.drawing(place, None if final else box)
        if final:
            self._drawn(place, box)

    def _edited(self, number: int, editor: Any, shape: Any, final: bool) -> None:
        if self._placing or not editor.visible or (final and self._held != number):
            return
        self._held = None if final else number
        box = editor is self.views[number].editor
        tell = self._editing.edited if box else self._editing.reshaped
        next_turn(partial(tell, self.places[number], shape, final))

    def _sketched(self, place: int, corners: Any, final: bool) -> None:
        next_turn(partial(self._editing.sketched, place, corners, final))

    def _place_editors(
        self, rows: NDArray[Any], selected: Sequence[int], handles: Handles | None
    ) -> None:
        """Put an editor over the one selected box of every map, but not where it is dragged."""
        self._placing = True
        for number, (view, place) in enumerate(zip(self.views, self.places, strict=True)):
            box = rows[selected[0], place] if len(selected) == 1 else None
            if handles is None or box is None:
                view.polygon_editor.visible = False
            elif number != self._held:
                xs, ys = handles.outline.T.tolist()
                width = 16 if len(handles.corners) else 1
                view.polygon_editor.update(xs=xs, ys=ys, line_width=width, visible=True)
            if box is None or np.isnan(box).any() or handles is not None:
                view.editor.visible = False
            elif number != self._held:
                x0, y0, x1, y1 = map(float, box)
                view.editor.update(left=x0, bottom=y0, right=x1, top=y1, visible=True)
        self._placing = False

    def say(self, tags: Sequence[Sequence[Tag]]) -> None:
        """Write the answers to the boxes on their tags: of each map in turn, a tag for each box.

        Tags of boxes that are not on the maps any more are not said: newer ones are on their way.
        """
        for place, boxes in enumerate(self.boxes):
            of = [tag for tag, at in zip(tags, self.places, strict=True) if at == place]
            if all(len(tag) == len(boxes) for tag in of):
                boxes.say(of)
        self.push()

    def mark(self, leaves: NDArray[Any], place: int = 0) -> None:
        """Mark the leaves (k, 4) that selected rectangles cut through."""
        self.marks[place].show_cut(leaves)
        self.push()

    def outline(self, node: Box | None, place: int = 0) -> None:
        """Outline one node, or none."""
        self.marks[place].show_node(node)
        self.push()

    def choose(self, leaves: NDArray[Any], place: int = 0) -> None:
        """Outline the leaves (k, 4) that a panel has chosen, or none."""
        self.marks[place].show_chosen(leaves)
        self.push()

    def arrange(self, how: str) -> None:
        """All maps side by side, one of two alone, or the second over the first as far as a slider.

        Parameters
        ----------
        how : "all", "swipe", or the number of a map
        """
        swipe = how == "swipe" and len(self.views) == 2
        for number, card in enumerate(self._side_by_side):
            card.visible = how in ("all", "swipe", str(number))
        # A browser keeps a style that is left out, so every style is given each time.
        look = {"display": "grid" if swipe else "flex", "grid-template-columns": "1fr"}
        self._side_by_side.styles = {**self._side_by_side.styles, **look}
        if swipe or self._swiped:
            self.swipe.visible = swipe
        self._swiped = swipe
        self._write_heads()
        self._uncover()
        self._leave(self._left)
        self.base.refit()
        self.push()

    @cached_property
    def swipe(self) -> Any:
        """How far the second map is over the first; is on the page once it is used."""
        slider = ui.IntSlider(
            label="Swipe", value=50, start=0, end=100, show_value=False, margin=0, size="small",
            stylesheets=[SPOKEN_LABEL], sizing_mode="stretch_width",
        )  # fmt: skip
        slider.param.watch(lambda _event: self._uncover(), "value")
        self.frame.insert(1, slider)
        return slider

    @property
    def swiped(self) -> bool:
        """Whether the second map is over the first."""
        return self._swiped

    def _uncover(self) -> None:
        """Let the picture of the second map begin at the slider, while both share a place.

        Only the picture is cut: titles and bars stay whole.
        """
        clip = f"inset(0 0 0 {self.swipe.value}%)" if self._swiped else "none"
        upper = self.views[-1].figure
        # The first map is reached next to it.
        upper.styles = {**upper.styles, "clip-path": clip, "pointer-events": "auto"}
        self.push()

    def widen(self, wide: bool) -> None:
        """Larger tags and handles for a presentation, or the usual ones."""
        for view in self.views:
            view.widen(wide)
        self.base.widen(wide)
        self.push()

    def read(self, texts: Sequence[str] | None) -> None:
        """What each map says at the pointer, next to its title; None for what was there before."""
        self._write_heads(() if texts is None else texts)
        self.push()

    def title(self, number: int, title: str, below: str) -> None:
        """Title of a map, and HTML of our own below it."""
        self._titles[number] = title, below
        self._write_heads()

    def _write_heads(self, texts: Sequence[str] = ()) -> None:
        """Write the titles; those of maps that share a place are in one line above both."""
        heads = [""] * len(self.heads)
        for number, (title, below) in self._titles.items():
            if number < len(texts):
                below = f'<p class="read">{texts[number]}</p>'
            heads[number] = f'<div class="head"><h2>{title}</h2>{below}</div>'
        if self._swiped:
            heads = [f'<div class="heads">{"".join(heads)}</div>', ""]
        for pane, text in zip(self.heads, heads, strict=True):
            put(pane, text)

    def explain(self, number: int, bar: str) -> None:
        """Explain the colours of a map by a bar inside its frame."""
        apart = self.bars.apart
        self.bars.explain(number, bar)
        if self.bars.apart != apart:
            self.base.refit()

    def put_beside(self, beside: Any) -> None:
        """Put something next to the maps where there is space, and below them elsewhere."""
        self.view = ui.wrapping(self.frame, beside, gap="8px 28px")
        self.view.styles = {**self.view.styles, "align-items": "flex-start"}

    def stand_in(self, around: Any) -> None:
        """Be placed in a `holder` of a page, which becomes as wide as the maps can be."""
        self._around = around
        self._leave(self._left)
        around.objects = [self.view]

    def make_room(self, room: bool) -> None:
        """A panel was opened, or shut: the maps stay as large as they are."""

    def push(self) -> None:
        """In a notebook, send what changed in the figures; a server does so by itself."""
        if pn.state.curdoc is None:
            pn.io.push_notebook(self.view)

    def show_truth(self, visible: bool) -> None:
        """Send what says something of exact counts, or take it away from the browser."""
        self.truth = visible
        self.read(None)
        if not visible:
            # Until the next answers no tag says anything.
            for boxes in self.boxes:
                boxes.forget()

    def _layout(self) -> Any:
        cards = []
        parts = zip(self.views, self.heads, self.bars.panes, self.grids, strict=True)
        for view, head, bar, grid in parts:
            aspect = grid.width / grid.height
            view.figure.aspect_ratio = aspect
            pane = pn.pane.Bokeh(
                view.figure, sizing_mode="scale_width", aspect_ratio=aspect, margin=0
            )
            # A frame of its own: a title may be as high as it wants.
            frame = pn.Column(pane, bar, margin=0, sizing_mode="stretch_width", styles=FRAME)
            cards.append(pn.Column(head, frame, margin=0, sizing_mode="stretch_width"))
        self._side_by_side = ui.wrapping(*cards, gap=f"8px {GAP}px")
        return pn.Column(self._side_by_side, self.below, sizing_mode="stretch_width", margin=0)

    def _leave(self, below: str) -> None:
        """Leave the dock its part of the window's height; what belongs to the maps ends with them.

        Where maps that leave a dock space next to them are higher than those above it, they are.
        """
        self._left = below
        self.bars.arrange([bool(card.visible) for card in self._side_by_side], self._swiped)
        widths: list[str] = []
        aspects = [grid.width / grid.height for grid in self.grids]
        visible = [
            ratio for ratio, card in zip(aspects, self.frame[0], strict=True) if card.visible
        ]
        if self._swiped:
            visible = visible[:1]
        # A presentation has larger type above and below.
        window = f"{WINDOW} - {self._taken}px * var(--type, 1)"
        beside = f"(100cqw - {BESIDE + GAP * len(visible)}px) / {sum(visible):.4f}"
        height = f"max(({window} - {below}), min(({window}), ({beside})))"
        for card, aspect in zip(self.frame[0], aspects, strict=True):
            # Side by side all are of one height.
            part = aspect / max(aspects)
            least = round(self._least * min(1.0, aspect))
            widest = f"min(1000px, max({least}px, calc({height} * {aspect:.4f})))"
            over = self._swiped and card is self._side_by_side[-1]
            card.styles = {
                "flex": f"{100 * part:.0f} 1 {280 * part:.0f}px",
                "max-width": widest,
                # Titles may have lines more: the maps are aligned all the same.
                "align-self": "flex-end",
                "grid-area": "1 / 1" if self._swiped else "auto",
                "pointer-events": "none" if over else "auto",
            }
            if card.visible and not (self._swiped and widths):
                widths.append(widest)
        whole = f"calc({' + '.join(widths)} + {GAP * (len(widths) - 1)}px)"
        self.frame.styles = {**self.frame.styles, "max-width": whole}
        if self._around is not None:
            self._around.styles = {**self._around.styles, **self.around(whole)}

    def around(self, whole: str) -> dict[str, str]:
        """Styles of what the maps are in, where ``whole`` is their width side by side."""
        return {"flex": f"1 1 {whole}", "max-width": whole, "min-width": "min(100%, 280px)"}


def holder() -> Any:
    """What the maps of a page are in, see `Maps.stand_in`."""
    return pn.Column(sizing_mode="stretch_width", margin=0)


def docked(maps: Any, *dock: Any) -> Any:
    """Maps with their dock: the strip of panels, the open one, the table of boxes, texts.

    The maps are as wide as their height lets them be; what they leave of a wide window, or next to
    a narrow country, is the dock's.

    Parameters
    ----------
    maps : a `holder`
    *dock : what is in the dock, from top to bottom
    """
    reading = pn.Column(
        *dock,
        sizing_mode="stretch_width",
        margin=0,
        styles={"flex": f"1 1 {BESIDE}px", "min-width": f"min({BESIDE}px, 100%)"},
    )
    view = ui.wrapping(maps, reading, gap=f"4px {GAP}px")
    view.styles = {**view.styles, "align-items": "flex-start"}
    # Maps measure what they leave by the width of this.
    return pn.Column(
        view, sizing_mode="stretch_width", margin=0, styles={"container-type": "inline-size"}
    )
