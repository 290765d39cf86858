"""A release by itself: its map, boxes on it, and what it answers. Nothing exact is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import panel as pn

from explorer.app.boxes import frames
from explorer.app.boxes.answers import COLUMNS, private_answers, said
from explorer.app.boxes.editing import BoxEditing, show_on
from explorer.app.boxes.exchange import BoxExchange
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.boxes.table import BoxTable
from explorer.app.kit.html import html_pane, put, section
from explorer.app.kit.labels import DRAWN, PREVIEW
from explorer.app.kit.map_parts import MapSpec, Tag
from explorer.app.kit.map_tools import MapTools
from explorer.app.kit.maps import Maps
from explorer.app.kit.page import AppPage
from explorer.app.kit.prose import column
from explorer.app.kit.words import words
from explorer.app.work.document import soon
from explorer.errors import InputError
from explorer.grid.range_queries import Queries
from explorer.releases import file as release_file
from explorer.releases.release import Release
from explorer.views import palette
from explorer.views.markup import count_bar, ledger_bar, safe_text
from explorer.views.partition import Leaves, partition
from explorer.views.pictures import private_map
from explorer.views.scale import ColourScale, top_value_of_leaves

if TYPE_CHECKING:
    import geopandas
    import pandas as pd


def is_release(source: Any) -> bool:
    """Whether someone brought a release of any kind, or the name of its file."""
    if isinstance(source, str | PathLike):
        return release_file.is_release(Path(source).expanduser())
    return hasattr(source, "to_geodataframe") and hasattr(source, "answer")


class _Drag:
    """What a drag on the map means."""

    def __init__(self, page: ReleasePage) -> None:
        self.drag = "draw"
        self._page = page

    def put(self, *, drag: str) -> None:
        """Take one of "draw", "polygon", "move", "scroll"."""
        if drag not in ("draw", "polygon", "move", "scroll"):
            raise InputError("A drag draws, moves or scrolls: choose one of them.")
        self.drag = drag
        for view in self._page.maps.views:
            view.drag(drag)


class ReleasePage(AppPage):
    """The private map of a release, for a notebook's cell: there is no truth next to it.

    Parameters
    ----------
    release : Release, or the path of its file
        Of a map.
    boxes : optional
        The first boxes, as ``page.boxes`` takes them; two examples without them.
    keep, height, controls
        How the page is in a cell, see `AppPage`.

    Raises
    ------
    InputError
        For a release that is no single map.
    """

    KEY = "release"
    TITLE = "Private map"

    def __init__(
        self, release: Release | str | PathLike[str], *, boxes: Any = None, **cell: Any
    ) -> None:
        super().__init__(**cell)
        if isinstance(release, str | PathLike):
            release = Release.load(Path(release).expanduser())
        self.release, grid = release, release.grid
        self._leaves = Leaves.of(release)
        top = top_value_of_leaves(self._leaves.density, self._leaves.cells, "log")
        self._scale = ColourScale("log", top, "release")
        self.rectangles = Rectangles(grid)
        self.rectangles.reset(grid)
        refuse = self.message.refuse
        self.editing = BoxEditing(self.rectangles, self._tags, self._changed, self._changed, refuse)
        self.maps = Maps([MapSpec(grid, "Private map")], self._viewed, self.editing.drawn)
        self.editing.take(self.maps)
        self.table = BoxTable(*(self.rectangles, self._changed, self._highlight, refuse, COLUMNS))
        self.exchange = BoxExchange(
            *(self.rectangles, self._add_box, self._changed, refuse),
            beside=[self.table.edit_places],
            told=self.message.inform,
            about="boxes",
        )
        self.exchange.reset()
        tools = MapTools(_Drag(self), self._zoom, refuse, phone=self.phone)
        text = words("release")
        self._summary = html_pane(margin=(6, 0, 10, 0))
        put(
            self._summary,
            f'<p class="summary" role="status">{safe_text(release.summary(), 600)}</p>',
        )
        ledger = html_pane(margin=(4, 0, 0, 0))
        put(ledger, ledger_bar(release.stages()))
        beside = pn.Column(
            section("Boxes", text["Boxes"]),
            self.exchange.view,
            self.table.widget,
            section("Ledger", text["Ledger"]),
            ledger,
            margin=0,
            styles={"flex": "1 1 480px", "min-width": "0"},
        )
        self.maps.put_beside(beside)
        self.maps.frame.styles = {**self.maps.frame.styles, "flex": "1 1 340px"}
        self.body = column(
            self.message.view, tools.view, self._summary, self.maps.view, margin=(10, 16, 24, 16)
        )
        name = safe_text(grid.name) or "Private map"
        kind = PREVIEW if release.preview else DRAWN
        self.maps.title(0, name, f"<p>{kind}</p>")
        self.maps.views[0].describe(f"Private map of {name}; the table of boxes gives its numbers")
        cells = f"{grid.cell_width:,.0f} m cell" if grid.unit == "m" else "cell"
        colours = palette.PALETTES["cividis"]
        self.maps.explain(0, count_bar(f"Records per {cells}", self._scale, colours, "logarithmic"))
        self._viewed()
        if boxes is None:
            self._changed()
        else:
            self.boxes = boxes

    @property
    def boxes(self) -> geopandas.GeoDataFrame:
        """The boxes, a row each; a new table replaces all of them, see ``Explore.boxes``."""
        return frames.to_frame(self.rectangles)

    @boxes.setter
    def boxes(self, queries: Any) -> None:
        self.rectangles.put(*frames.read(queries, self.rectangles))
        self._changed()

    @property
    def answers(self) -> pd.DataFrame:
        """What the release answers to the boxes, see `Answers.to_frame`."""
        frame = self.release.answer(self.rectangles.queries).to_frame()
        frame.index = list(self.rectangles.names)
        return frame.rename_axis("box")

    def poster(self) -> str:
        """The release; of a preview nothing."""
        card: str = super().poster() if self.release.preview else self.release._repr_html_()
        return card

    def _viewed(self) -> None:
        view = self.maps.viewport()
        picture = self._scale.encode(private_map(self.release, self._leaves, view))
        self.maps.views[0].show_image(picture, view)
        self.maps.show_partition(0, partition(self._leaves, view, self.release.grid), view)
        self.maps.push()

    def _zoom(self, factor: float) -> None:
        self.maps.zoom(factor)
        self._viewed()

    def _add_box(self) -> None:
        self.rectangles.add_middle(self.maps.ranges.bounds)
        self._changed()

    def _tags(self, boxes: Queries, names: Sequence[str]) -> list[list[Tag]]:
        values = self.release.answer(boxes).value
        return [[(said(n, v), palette.PRIVATE) for n, v in zip(names, values, strict=True)]]

    def _changed(self) -> None:
        self._highlight()
        soon(self._numbers)

    def _highlight(self) -> None:
        chosen = self.rectangles
        show_on(self.maps, chosen)

    def _numbers(self) -> None:
        self.maps.say(self._tags(self.rectangles.queries, self.rectangles.names))
        self.table.show(private_answers(self.release, self.rectangles.queries))
