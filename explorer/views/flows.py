"""Flows between zones: arcs on a map, and the matrix of all of them as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import HoverTool, LinearColorMapper, Range1d
from numpy.typing import NDArray

from explorer.releases.flows import Flows
from explorer.views import palette
from explorer.views.figures import EDGES, describe, edge_columns, empty, ground, tooltip
from explorer.views.gestures import on_tap
from explorer.views.scale import ColourScale

Floats = NDArray[np.float64]

#: Points of one arc, and how far it bends to its left, as a part of its length.
_POINTS, _BEND = 17, 0.22
_THIN, _THICK = 1.0, 11.0
#: An arc that is above its interval, and one whose interval holds 0.
SURE, UNSURE = "#ffd166", "#8b98a5"
_ARC = tooltip("""<b>@count{0,0}</b> ± @half{0,0}<br>
zone @start to zone @stop""")
_CELL = tooltip("""<b>@count{0,0}</b> ± @half{0,0}<br>
from zone @orow-@ocol to zone @drow-@dcol""")


@dataclass(frozen=True, eq=False)
class FlowPicture:
    """What both figures show; everything in it is of the release.

    Attributes
    ----------
    arcs : columns of the arcs, smallest first, so that the largest lie on top
    ends : columns of where they end
    rings : columns of flows that end where they began
    zones : (n, 4) boxes of the zones of the origin's map
    background : (rows, cols) bytes of the origin's private map, row 0 south
    bounds : x0, y0, x1, y1 of that map
    matrix : columns of the picture of all flows
    size : zones of the origin (rows) and of the destination (columns)
    """

    arcs: dict[str, Any]
    ends: dict[str, Any]
    rings: dict[str, Any]
    zones: Floats
    background: NDArray[np.uint8]
    bounds: tuple[float, float, float, float]
    matrix: dict[str, Any]
    size: tuple[int, int]


def flow_picture(
    every: Flows,
    drawn: Flows,
    ends: Floats,
    background: NDArray[np.uint8],
    scale: ColourScale,
) -> FlowPicture:
    """Prepare both figures.

    Parameters
    ----------
    every : all flows, for the matrix
    drawn : those to be drawn as arcs, largest first
    ends : (n, 2) middles of the destination zones in the unit of the origin's map
    background : bytes of the origin's private map
    scale : of the matrix
    """
    starts = every.origins.centres
    order = np.arange(len(drawn))[::-1]
    loop = drawn.loops[order]
    flow = order[~loop]
    begin, end = starts[drawn.origin[flow]], ends[drawn.destination[flow]]
    widest = float(np.max(drawn.value, initial=1.0))
    width = np.clip(_THICK * drawn.value / widest, _THIN, _THICK)
    colour = np.where(drawn.holds_zero, UNSURE, SURE)
    xs, ys = _bent(begin, end)
    labels = [np.array(zones.labels) for zones in (every.origins, every.destinations)]

    def told(which: NDArray[Any]) -> dict[str, Any]:
        return {
            "width": width[which],
            "colour": colour[which].tolist(),
            "count": drawn.value[which],
            "half": drawn.half_width[which],
            "start": labels[0][drawn.origin[which]].tolist(),
            "stop": labels[1][drawn.destination[which]].tolist(),
        }

    rings = order[loop]
    return FlowPicture(
        arcs={"xs": list(xs), "ys": list(ys), **told(flow)},
        ends={"x": end[:, 0].copy(), "y": end[:, 1].copy(), "colour": colour[flow].tolist(),
              "size": 4 + width[flow]},
        rings={
            "x": starts[drawn.origin[rings], 0],
            "y": starts[drawn.origin[rings], 1],
            "size": 10 + 2 * width[rings],
            **told(rings),
        },
        zones=every.origins.boxes,
        background=background,
        bounds=every.origins.grid.bounds,
        matrix=_matrix(every, scale),
        size=(len(every.origins), len(every.destinations)),
    )  # fmt: skip


def _bent(begin: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Points of quadratic curves that bend to the left of their way, (n, points) each."""
    along = end - begin
    middle = (begin + end) / 2 + _BEND * np.stack([-along[:, 1], along[:, 0]], axis=1)
    t = np.linspace(0.0, 1.0, _POINTS)[:, None, None]
    curve = (1 - t) ** 2 * begin + 2 * t * (1 - t) * middle + t**2 * end
    return curve[:, :, 0].T.copy(), curve[:, :, 1].T.copy()


def _matrix(every: Flows, scale: ColourScale) -> dict[str, Any]:
    """One picture with its numbers next to it, for a pointer that rests on it."""
    counts = every.matrix().astype(np.float32)
    half = np.zeros_like(counts)
    half[every.origin, every.destination] = every.half_width
    origin, destination = np.indices(counts.shape)
    orow, ocol = np.divmod(origin, every.origins.columns)
    drow, dcol = np.divmod(destination, every.destinations.columns)
    numbers = {"orow": orow, "ocol": ocol, "drow": drow, "dcol": dcol}
    return {
        "image": [scale.encode(counts)],
        "count": [counts],
        "half": [half],
        **{name: [(values + 1).astype(np.uint8)] for name, values in numbers.items()},
        "x": [0],
        "y": [0],
        "w": [counts.shape[1]],
        "h": [counts.shape[0]],
    }


class FlowMap:
    """The origin's private map, the zones, and arcs over them.

    Parameters
    ----------
    tapped : called with x, y of each click, as the browser sent it
    """

    def __init__(self, tapped: Any) -> None:
        self.x, self.y = Range1d(0, 1), Range1d(0, 1)
        self.figure = fig = ground(self.x, self.y, "Flows between zones", side=480)
        self.image = empty("image", "x", "y", "w", "h")
        self.mapper = LinearColorMapper(palette=palette.PALETTES["cividis"], low=0, high=256)
        fig.image(
            "image", x="x", y="y", dw="w", dh="h", source=self.image, color_mapper=self.mapper,
            global_alpha=0.45,
        )  # fmt: skip
        self.zones, self.chosen = empty(*EDGES.values()), empty(*EDGES.values())
        for source, look in (
            (self.zones, {"line_color": palette.LINE, "line_alpha": 0.18}),
            (self.chosen, {"line_color": palette.BOX, "line_width": 3}),
        ):
            fig.quad(**EDGES, source=source, fill_color=None, **look)
        facts = ("width", "count", "half", "start", "stop")
        self.arcs = empty("xs", "ys", "colour", *facts)
        lines = fig.multi_line(
            "xs", "ys", source=self.arcs, line_width="width", line_color="colour",
            line_alpha=0.72, line_cap="round", hover_line_alpha=1.0, hover_line_color="#ffffff",
        )  # fmt: skip
        self.ends = empty("x", "y", "size", "colour")
        fig.scatter(
            "x", "y", size="size", source=self.ends, fill_color="colour",
            line_color=palette.GROUND, line_width=1,
        )  # fmt: skip
        self.rings = empty("x", "y", "size", "colour", *facts)
        rings = fig.scatter(
            "x", "y", size="size", source=self.rings, fill_color=None, line_color="colour",
            line_width="width", line_alpha=0.72,
        )  # fmt: skip
        fig.add_tools(HoverTool(renderers=[lines, rings], tooltips=_ARC))
        on_tap(fig, tapped)

    def show(self, drawn: FlowPicture, colours: tuple[str, ...], chosen: Floats) -> None:
        """Show flows; ``chosen`` (m, 4) are zones to be outlined."""
        x0, y0, x1, y1 = drawn.bounds
        self.x.update(start=x0, end=x1)
        self.y.update(start=y0, end=y1)
        self.figure.aspect_ratio = (x1 - x0) / (y1 - y0)
        self.mapper.palette = list(colours)
        self.image.data = {
            "image": [drawn.background], "x": [x0], "y": [y0], "w": [x1 - x0], "h": [y1 - y0]
        }  # fmt: skip
        self.zones.data, self.chosen.data = (
            edge_columns(drawn.zones, float),
            edge_columns(chosen, float),
        )
        self.arcs.data, self.ends.data, self.rings.data = drawn.arcs, drawn.ends, drawn.rings

    def describe(self, label: str) -> None:
        """Say in one sentence what the picture shows, for a screen reader."""
        describe(self.figure, label)


class ZoneMatrix:
    """All flows as a picture: a row for each origin zone, a column for each destination."""

    def __init__(self) -> None:
        self.x, self.y = Range1d(0, 1), Range1d(0, 1)
        self.figure = fig = ground(self.x, self.y, "Matrix of flows between zones", side=480)
        facts = ("count", "half", "orow", "ocol", "drow", "dcol")
        self.source = empty("image", "x", "y", "w", "h", *facts)
        self.mapper = LinearColorMapper(palette=palette.PALETTES["cividis"], low=0, high=256)
        picture = fig.image(
            "image", x="x", y="y", dw="w", dh="h", source=self.source, color_mapper=self.mapper
        )
        fig.add_tools(HoverTool(renderers=[picture], tooltips=_CELL))

    def show(self, drawn: FlowPicture, colours: tuple[str, ...]) -> None:
        """Show all flows."""
        rows, columns = drawn.size
        self.x.update(start=0, end=columns)
        # The first origin is on top, as in a table.
        self.y.update(start=rows, end=0)
        self.figure.aspect_ratio = columns / rows
        self.mapper.palette = list(colours)
        self.source.data = drawn.matrix

    def describe(self, label: str) -> None:
        """Say in one sentence what the picture shows, for a screen reader."""
        describe(self.figure, label)
