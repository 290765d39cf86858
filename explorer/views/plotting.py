"""A release as a figure of Matplotlib, on a web map of folium, and as a small picture."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.views.palette import GROUND, LINE, PALETTES
from explorer.views.scale import ColourScale, top_value_of_leaves

if TYPE_CHECKING:
    from explorer.releases.release import Release

COLUMNS = {
    "density": "private records per {area}",
    "count": "private records in the leaf",
    "noise_sd": "standard deviation of the leaf's noise",
    "low": "lower end of 95 % of the noise",
    "high": "upper end of 95 % of the noise",
}
SCALES = ("log", "linear")
#: Pixels of a small picture's longer side.
_SMALL = 200
#: Leaves of more edges than so many are a grey film on any figure.
_MOST_EDGES = 20_000


def plot(
    release: Release,
    ax: Any = None,
    column: str = "density",
    scale: str = "log",
    partition: bool = True,
) -> Any:
    """See `Release.plot`."""
    if column not in COLUMNS:
        raise InputError(f"There is no column {column!r}: choose one of {', '.join(COLUMNS)}.")
    if scale not in SCALES:
        raise InputError(f"There is no scale {scale!r}: choose log or linear.")
    try:
        from matplotlib import pyplot
        from matplotlib.collections import PolyCollection
        from matplotlib.colors import ListedColormap, LogNorm
    except ImportError as error:
        raise _missing("Matplotlib", "matplotlib") from error
    grid, values = release.grid, _values(release, column)
    x0, y0, x1, y1 = grid.bounds
    if ax is None:
        _, ax = pyplot.subplots()
    colours = ListedColormap(PALETTES["cividis"])
    norm = None
    if scale == "log":
        values = np.ma.masked_less_equal(values, 0.0)
        # What is almost nothing must not take most of the colours.
        top = float(values.max()) if values.count() else 1.0
        norm = LogNorm(max(float(values.min()) if values.count() else 0.1, top / 1e5), top)
    ax.set_facecolor(GROUND)
    image = ax.imshow(
        values,
        origin="lower",
        extent=(x0, x1, y0, y1),
        cmap=colours,
        norm=norm,
        interpolation="none",
    )
    boxes = release.boxes()
    if partition and len(boxes) <= _MOST_EDGES:
        west, south, east, north = boxes.T
        corners = np.stack([west, south, east, south, east, north, west, north], axis=1)
        edges = PolyCollection(
            list(corners.reshape(-1, 4, 2)),
            facecolors="none",
            edgecolors=LINE,
            linewidths=0.3,
            alpha=0.4,
        )
        ax.add_collection(edges, autolim=False)
    area = "km²" if grid.crs is not None else "cell"
    ax.figure.colorbar(image, ax=ax, label=COLUMNS[column].format(area=area), shrink=0.8)
    ax.set_xlabel(f"x ({grid.unit})")
    ax.set_ylabel(f"y ({grid.unit})")
    kind = "Preview, not private" if release.preview else "Private map"
    ax.set_title(f"{kind}: {release.mechanism}, epsilon {release.epsilon:g} per {release.unit}")
    return ax


def explore(release: Release, tiles: Any = None, **options: Any) -> Any:
    """See `Release.explore`."""
    if release.grid.crs is None:
        raise InputError("This map is measured in cells and lies nowhere on the Earth: use plot().")
    frame = release.to_geodataframe(crs=4326)
    try:
        drawn = frame.explore(**{"column": "density", "tiles": tiles, "cmap": "cividis", **options})
    except ImportError as error:
        raise _missing("folium", "folium matplotlib mapclassify") from error
    return drawn


def poster(release: Release) -> bytes:
    """The private map as a small PNG, north up, on the same scale as in the app."""
    from PIL import Image

    density = release.density()
    cells = np.prod(release.upper - release.lower, axis=1)
    scale = ColourScale("log", top_value_of_leaves(release.counts / cells, cells, "log"), "release")
    step = max(1, -(-max(density.shape) // _SMALL))
    levels = scale.encode(_coarser(density, step).astype(np.float32))[::-1]
    image = Image.fromarray(np.ascontiguousarray(levels), "P")
    image.putpalette(b"".join(bytes.fromhex(colour[1:]) for colour in PALETTES["cividis"]))
    times = max(1, _SMALL // max(levels.shape))
    image = image.resize((image.width * times, image.height * times), Image.Resampling.NEAREST)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def _coarser(values: NDArray[np.float64], step: int) -> NDArray[np.float64]:
    """Means of blocks of step x step cells; those at the far edges hold what is there."""
    starts = [np.arange(0, n, step) for n in values.shape]
    sums = np.add.reduceat(np.add.reduceat(values, starts[0], axis=0), starts[1], axis=1)
    sides = [np.diff(np.append(start, n)) for start, n in zip(starts, values.shape, strict=True)]
    means: NDArray[np.float64] = sums / np.outer(*sides)
    return means


def _values(release: Release, column: str) -> NDArray[np.float64]:
    """A column painted on the cells, (rows, columns)."""
    grid = release.grid
    if column == "density":
        area = grid.cell_width * grid.cell_height / 1e6 if grid.crs is not None else 1.0
        per_area: NDArray[np.float64] = release.density() / area
        return per_area
    painted: NDArray[np.float64] = release.to_geodataframe()[column].to_numpy()[release.owners]
    return painted


def _missing(what: str, packages: str) -> InputError:
    return InputError(f"{what} is not installed: run pip install {packages}.")
