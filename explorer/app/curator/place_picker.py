"""Where on the map: a picture to point at, and boxes to type the same in kilometres."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import panel as pn

from explorer.app.boxes.rectangles import EDGES
from explorer.app.curator.data import CityData
from explorer.app.curator.setting_fields import field
from explorer.app.kit import ui
from explorer.app.kit.html import put
from explorer.app.kit.labels import CURATOR
from explorer.app.kit.numbers import finite
from explorer.app.kit.prose import column, pane
from explorer.errors import InputError
from explorer.teaching.places import cell_of, on_map, part_of
from explorer.teaching.settings import Settings
from explorer.views import palette
from explorer.views.gestures import on_box, on_tap, prepare
from explorer.views.scale import ColourScale
from explorer.views.small import PlaceMap
from explorer.views.viewport import Viewport

PIXELS = 360
TRUE_MAP = f"True map, logarithmic colours; {CURATOR}."


class Where:
    """A map with a box, a place or both, tied to the settings ``box`` and ``place``.

    On a ``phone`` a drag scrolls the page.
    """

    def __init__(
        self,
        settings: Settings,
        refused: Callable[[str], None],
        *,
        box: bool = False,
        place: bool = False,
        phone: bool = False,
    ) -> None:
        self._settings, self._refused = settings, refused
        self._has_box, self._has_place, self._phone = box, place, phone
        self._box_shown = box
        self.map: PlaceMap | None = None
        self.data: CityData | None = None
        self._further: Sequence[tuple[Sequence[float], str, bool]] = ()
        self.fields: dict[str, Any] = {}
        self._setting = False
        self._hint, self.caption = pane(margin=(0, 0, 4, 0)), pane(margin=(2, 0, 4, 0))
        self._place_of_map = column()
        self._typed = ui.wrapping(margin=0)
        self.view = column(
            self._hint,
            self._place_of_map,
            self.caption,
            self._typed,
            margin=(0, 20, 8, 0),
            styles={"flex": "1 1 280px", "max-width": f"{PIXELS}px"},
        )
        watched = [name for name, has in (("box", box), ("place", place)) if has]
        settings.param.watch(lambda *_: self._follow(), watched)

    def use(self, data: CityData) -> None:
        """Show a city's true map."""
        self.data = data
        grid = data.grid
        drag = self._has_box and not self._phone
        self.map = PlaceMap(
            grid.bounds, f"True map of {data.title}", drag=drag, rim=self._has_place
        )
        on_tap(self.map.figure, self.tapped)
        if drag:
            on_box(self.map.figure, lambda box, final: self.drawn(box) if final else None)
            prepare([self.map.figure])
        aspect = grid.width / grid.height
        self.map.figure.aspect_ratio = aspect
        self._place_of_map.objects = [
            pn.pane.Bokeh(self.map.figure, sizing_mode="scale_width", aspect_ratio=aspect, margin=0)
        ]
        self._make_fields()
        self.show_truth()
        self._follow()
        self._say_how()

    def show_truth(self) -> None:
        """The exact map, in logarithmic colours."""
        if self.data is None or self.map is None:
            return
        truth = self.data.truth(Viewport.whole(self.data.grid, PIXELS), False)
        scale = ColourScale("log", self.data.top("log"), "data")
        spoken = f"True map of {self.data.title}; the numbers stand in the text beside it"
        self.map.show(scale.encode(truth.shown), spoken, palette.PALETTES["cividis"])
        put(self.caption, f'<p class="quiet">{TRUE_MAP}</p>')

    def further(self, boxes: Sequence[tuple[Sequence[float], str, bool]]) -> None:
        """Draw boxes of the experiment besides the chosen one: edges, colour, dashed."""
        self._further = boxes
        self._draw()

    def show_box(self, visible: bool) -> None:
        """Show the box and its fields only while something is asked about it."""
        self._box_shown = visible
        for name, widget in self.fields.items():
            widget.visible = visible or not name.startswith("box ")
        self._say_how()
        self._draw()

    def tapped(self, x: Any, y: Any) -> None:
        """A click on the map, as the browser sent it."""
        if self.data is None:
            return
        try:
            to = part_of(finite(x, "The place"), finite(y, "The place"), self.data.grid)
        except InputError as error:
            self._refused(str(error))
            return
        if self._has_place:
            self._settings.put(place=to)
        elif self._phone:
            # A finger cannot draw while it has to scroll: the box moves to where it taps.
            self._move_box(to)

    def _move_box(self, to: tuple[float, float]) -> None:
        west, south, east, north = self._settings.box
        width, height = east - west, north - south
        west = min(max(to[0] - width / 2, 0.0), 1 - width)
        south = min(max(to[1] - height / 2, 0.0), 1 - height)
        self._settings.put(box=(west, south, min(west + width, 1.0), min(south + height, 1.0)))

    def drawn(self, box: tuple[Any, Any, Any, Any]) -> None:
        """A dragged box (x0, y0, x1, y1), as the browser sent it."""
        if self.data is None or not self._box_shown:
            return
        grid = self.data.grid
        try:
            x0, y0, x1, y1 = (finite(edge, "An edge") for edge in box)
            # A click without a drag is no box.
            if x1 - x0 < grid.width / 100 or y1 - y0 < grid.height / 100:
                return
            parts = (*part_of(x0, y0, grid), *part_of(x1, y1, grid))
            self._settings.put(box=parts)
        except InputError as error:
            self._refused(str(error))

    def _make_fields(self) -> None:
        assert self.data is not None
        unit = "km" if self.data.grid.unit == "m" else "cells"
        names = ("east", "north") if self._has_place else ()
        labels = {name: f"{name.capitalize()} of the place, {unit}" for name in names}
        if self._has_box:
            labels |= {f"box {e}": f"Box {e}, {unit}" for e in EDGES}
        self.fields = {}
        for name, label in labels.items():
            widget = ui.FloatInput(label=label, value=0.0, size="small", **field(150))
            self.fields[name] = ui.bind(widget, self._typed_in, self._refused)
        self._typed.objects = list(self.fields.values())

    def _typed_in(self, _value: Any) -> None:
        if self._setting or self.data is None:
            return
        grid = self.data.grid
        factor = 1000.0 if grid.unit == "m" else 1.0
        read = {
            name: finite(widget.value, widget.label) * factor
            for name, widget in self.fields.items()
        }
        x0, y0 = grid.bounds[:2]
        if self._has_place:
            put_in = self._inside((read["east"] - x0, read["north"] - y0))
            if cell_of(put_in, grid) != cell_of(self._settings.place, grid):
                self._settings.put(place=put_in)
        if self._has_box:
            west, south = self._inside((read["box west"] - x0, read["box south"] - y0))
            east, north = self._inside((read["box east"] - x0, read["box north"] - y0))
            self._settings.put(box=(west, south, east, north))

    def _inside(self, offset: tuple[float, float]) -> tuple[float, float]:
        assert self.data is not None
        grid = self.data.grid
        along, up = offset[0] / grid.width, offset[1] / grid.height
        # Typed numbers are rounded: the edge itself may come out a millimetre outside.
        if not (-1e-3 <= along <= 1.001 and -1e-3 <= up <= 1.001):
            raise InputError("This is outside the map: type a place inside it.")
        return min(max(along, 0.0), 1.0), min(max(up, 0.0), 1.0)

    def _follow(self) -> None:
        """Show the settings in the boxes and on the map."""
        if self.data is None:
            return
        grid = self.data.grid
        factor = 1000.0 if grid.unit == "m" else 1.0
        coordinates: dict[str, float] = {}
        if self._has_place:
            x, y = self._at(self._settings.place)
            coordinates |= {"east": x, "north": y}
        if self._has_box:
            edges = on_map(self._settings.box, grid)
            coordinates |= {f"box {e}": float(at) for e, at in zip(EDGES, edges, strict=True)}
        self._setting = True
        for name, value in coordinates.items():
            self.fields[name].value = round(value / factor, 3)
        self._setting = False
        self._draw()

    def _draw(self) -> None:
        if self.data is None or self.map is None:
            return
        boxes = list(self._further)
        if self._box_shown:
            edges = on_map(self._settings.box, self.data.grid).tolist()
            boxes.insert(0, (edges, palette.BOX, False))
        place = self._at(self._settings.place) if self._has_place else None
        self.map.mark(boxes, place)

    def _at(self, place: Sequence[float]) -> tuple[float, float]:
        """The middle of the cell of a place, in the grid's unit."""
        assert self.data is not None
        grid = self.data.grid
        row, col = cell_of(place, grid)
        x0, y0 = grid.bounds[:2]
        return x0 + (col + 0.5) * grid.cell_width, y0 + (row + 0.5) * grid.cell_height

    def _say_how(self) -> None:
        """What a hand can do on the map just now."""
        parts = []
        if self._has_place:
            parts.append(f"{'Tap' if self._phone else 'Click'} on the map for a place")
        if self._box_shown and not self._phone:
            parts.append("drag a box" if parts else "Drag a box on the map")
        elif self._has_box and not self._has_place:
            parts.append("Tap where the box should be")
        put(self._hint, f'<p class="quiet">{", ".join(parts)}, or type it below.</p>')
