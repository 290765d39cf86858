"""What a page with maps is made of: one value for each page, read by its frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from explorer.app.curator.explain import Panel
from explorer.app.curator.own import (
    UploadForm,
)
from explorer.app.curator.screen import Look
from explorer.app.mappage.city_page import CITIES, Source
from explorer.app.mappage.drawer import DrawerSpec
from explorer.app.mappage.drawing import Drawing
from explorer.app.mappage.readout import Readout
from explorer.app.state import PlaceState


@dataclass(frozen=True, kw_only=True)
class PageSpec:
    """A page with one mechanism: previews that follow the choices, drawn releases.

    Attributes
    ----------
    key, title : of the page
    choices : the state; controls, link, scenario and code derive from it
    source : where its data come from
    place : the choices that say what is counted
    compute : from a `Job` to a screen, in a thread
    look : from the page's parts to how screens are drawn
    drawing : what books, keeps and saves releases
    maps : from the page and its data to maps
    fits : whether data can be shown on the maps that are there
    looks, styles : choices that need another picture, and those that need none
    columns : of the table of boxes besides names and edges
    boxes : the places of a row of boxes; one without a name where there is one map
    views : what two maps of one place are called where they can be shown one by one
    private : which of them holds nothing exact
    polygons : whether polygons can be drawn: a row is about one map
    drawer : the controls
    upload : the form for data of one's own
    readout : what is read next to the maps
    above : from the page to what is above the maps
    below : from the readout and the page's words to what is read below the table of boxes
    panels : what makes a panel below the maps when it is first opened, by key
    lead : the first sentence of a page whose maps do not begin with one of their own
    more : what the strip of panels is called, for a screen reader
    files : what the section of files is about
    begins : of what a server was told to begin with, what is for this page
    warmed : choices to draw once before the first visitor
    """

    key: str
    title: str
    choices: type[PlaceState]
    source: Source = CITIES
    place: tuple[str, ...] = ("city", "side", "bound")
    compute: Callable[..., Any]
    look: Callable[[Any], Any] = Look.of
    drawing: type[Drawing] = Drawing
    maps: Callable[[Any, Any], Any]
    fits: Callable[[Any, Any], bool]
    looks: tuple[str, ...]
    styles: tuple[str, ...] = ("palette", "drag")
    columns: Any
    boxes: tuple[str, ...] = ("",)
    views: tuple[str, ...] = ()
    private: int | None = None
    polygons: bool = True
    drawer: DrawerSpec
    upload: type[UploadForm] = UploadForm
    readout: type[Readout]
    above: Callable[[Any], Sequence[Any]] = lambda page: [page.head()]
    below: Callable[[Any, Mapping[str, str]], Sequence[Any]]
    panels: Mapping[str, Callable[[Any], Panel]]
    lead: str = ""
    more: str = "Explain this map"
    files: str = "boxes and answers"
    begins: Callable[[dict[str, Any]], dict[str, Any]] = lambda begin: begin
    warmed: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
