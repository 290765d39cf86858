"""From choices to everything the Country page shows: a pure function, run in a thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.app.country.data import FINER, CountryData
from explorer.app.curator.answers import BoxAnswers, counted_in
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Job
from explorer.app.state import CountryState
from explorer.app.work.cache import Shelf
from explorer.errors import InputError
from explorer.grid.range_queries import Queries, RangeQueries
from explorer.points.truth import exact, of_all_records
from explorer.releases.answers import Z95, Answers
from explorer.releases.country import CountryRelease
from explorer.releases.release import Release
from explorer.views.choropleth import AreaNumbers, Outlined, Shapes
from explorer.views.partition import Leaves, Partition, partition
from explorer.views.raster import mean_per_cell
from explorer.views.scale import ColourScale, Kind, top_value_of_leaves
from explorer.views.truth import true_map
from explorer.views.viewport import Viewport

Floats = NDArray[np.float64]
Shows = Literal["private", "true", "difference"]

#: Previews are the same for all visitors: the settings that a page opens with are drawn once.
_PREVIEWS: Shelf[CountryRelease] = Shelf(4)
#: Below this part of the country's height on screen outlines are finer, and finer again.
_CLOSE = (0.45, 0.1)


class Sight(NamedTuple):
    """What the browser shows: of the country, and of the area whose map is next to it."""

    country: Viewport
    inside: Viewport
    area: int


@dataclass(frozen=True)
class AreaLook:
    """How the maps are drawn and about which area; nothing in it touches the release.

    Parameters
    ----------
    level : of the areas on the map
    area : names of the chosen one from the whole downwards; None, or names that no area of the
        country has, for the one with most private records
    per : "area" colours the records of an area, "km2" those on so much ground, see `_ground`
    """

    level: int
    area: tuple[str, ...] | None
    shows: Shows
    per: Literal["area", "km2"]
    scale: Kind
    partition: bool

    @classmethod
    def of(cls, parts: PageParts) -> AreaLook:
        state: CountryState = parts.state
        shows: Shows = state.shows if parts.truth else "private"
        return cls(state.level, state.area, shows, state.per, state.scale, state.partition)

    @property
    def exact(self) -> bool:
        return self.shows != "private"


@dataclass(frozen=True, eq=False)
class Inside:
    """The map inside an area: bytes (height, width), row 0 south, its partition, its border."""

    release: Release
    scale: ColourScale
    bytes: NDArray[np.uint8]
    partition: Partition
    view: Viewport
    border: Shapes


@dataclass(frozen=True, eq=False)
class CountryScreen:
    """Everything the page shows; arrays of areas are (n,) over all nodes.

    Attributes
    ----------
    private, half, true : count, half of its 95 % interval, exact count
    node : the area that the page is about
    outlined : areas on the map and their outlines; the same object while those are the same
    numbers, scale : what the map shows of them
    ground : km2 that colours count records per; None where they count those of areas
    inside : the map in the area; None where it has none of its own
    """

    data: CountryData
    key: tuple[Any, ...]
    title: str
    release: CountryRelease
    seconds: float
    look: AreaLook
    private: Floats
    half: Floats
    node: int
    outlined: Outlined
    closeness: int
    numbers: AreaNumbers
    scale: ColourScale
    ground: float | None
    inside: Inside | None
    boxes: Queries
    answers: BoxAnswers

    @property
    def true(self) -> NDArray[np.int64]:
        return self.data.true

    @property
    def level(self) -> int:
        return level_of(self.data, self.look)

    @property
    def painted(self) -> tuple[Any, ...]:
        """What panels could cover: nothing here."""
        return ()


def level_of(data: CountryData, look: AreaLook) -> int:
    """The level that the look asks for, or the lowest there is."""
    return min(look.level, len(data.areas.levels))


def compute(job: Job, progress: Callable[[float], None] | None = None) -> CountryScreen:
    """Release (unless the last one still holds), colour, look inside the area, answer boxes.

    Raises
    ------
    InputError
        When the mechanism refuses the settings for these counts, or the ledger a draw.
    """
    data: CountryData = job.data
    look: AreaLook = job.look
    old: CountryScreen | None = job.previous
    if old is not None and old.data is not data:
        old = None
    if old is not None and old.key == job.key:
        release, seconds, private, half = old.release, old.seconds, old.private, old.half
    else:
        started = time.perf_counter()
        release = _released(job, progress)
        seconds = time.perf_counter() - started
        private, _, sd = release.figures()
        half = Z95 * sd
    chosen = None if look.area is None else data.nodes.get(look.area)
    node = largest(data, private) if chosen is None else chosen
    sight: Sight = job.view
    outlined, closeness = _outlined(data, look, sight, old)
    scale, values, ground = _coloured(data, look, private, half, outlined.nodes)
    nodes = outlined.nodes
    numbers = AreaNumbers(
        values, [data.names[n] for n in nodes], private[nodes], half[nodes], data.true[nodes]
    )
    return CountryScreen(
        data=data,
        key=job.key,
        title=job.mechanism.title,
        release=release,
        seconds=seconds,
        look=look,
        private=private,
        half=half,
        node=node,
        outlined=outlined,
        closeness=closeness,
        numbers=numbers,
        scale=scale,
        ground=ground,
        inside=_inside(data, release, look, node, sight),
        boxes=job.boxes,
        answers=answer_country(release, data, job.boxes),
    )


def largest(data: CountryData, private: Floats) -> int:
    """The lowest area with most private records: what a page is about before one is chosen."""
    lowest = data.areas.lowest
    return int(lowest[np.argmax(private[lowest])])


def answer_country(release: CountryRelease, data: CountryData, boxes: Queries) -> BoxAnswers:
    """Ask both sides about rectangles (n, 4) in metres of the lattice, or polygons among them."""
    nothing = np.zeros(len(boxes))
    if len(boxes) == 0:
        return BoxAnswers(true=nothing, private=nothing, sd=nothing, touched=nothing.astype(int))
    if isinstance(boxes, RangeQueries):
        private, sd = boxes.each(lambda part: _both(release.answer(part)))
    else:
        private, sd = _both(release.answer(boxes))
    return BoxAnswers(
        true=exact(data.national, boxes),
        counted=counted_in(data.national, boxes),
        private=private,
        sd=sd,
        touched=nothing.astype(np.int64),
    )


def _both(answers: Answers) -> tuple[Floats, Floats]:
    return answers.value, answers.sd


def _released(job: Job, progress: Callable[[float], None] | None) -> CountryRelease:
    data: CountryData = job.data
    mechanism: Any = job.mechanism

    def draw() -> CountryRelease:
        release: CountryRelease = job.release(data.matrix, progress)
        return release

    if job.draw:
        return draw()
    return _PREVIEWS.get((data.matrix.key, repr(mechanism), job.seed), draw)


def _outlined(
    data: CountryData, look: AreaLook, sight: Sight, old: CountryScreen | None
) -> tuple[Outlined, int]:
    """The areas of the level, those in sight with outlines as fine as the zoom asks for."""
    level, view = level_of(data, look), sight.country
    part = (view.y1 - view.y0) / data.grid.height
    closeness = sum(part < limit for limit in _CLOSE)
    nodes = data.on_level(level)
    coarse = data.shapes()
    near = np.zeros(0, dtype=np.int64)
    if closeness:
        near = np.intersect1d(coarse.near((view.x0, view.y0, view.x1, view.y1)), nodes)
    if old is not None and old.level == level and old.closeness == closeness:
        outlined = old.outlined
        if not closeness or set(near.tolist()) <= set(outlined.finer.tolist()):
            return outlined, closeness
    if not closeness:
        return Outlined(coarse, nodes), 0
    fine = data.shapes(FINER[closeness])
    return Outlined(coarse.with_finer(fine, near), nodes, near), closeness


def _coloured(
    data: CountryData, look: AreaLook, private: Floats, half: Floats, nodes: NDArray[np.int64]
) -> tuple[ColourScale, NDArray[np.uint8], float | None]:
    """The scale, read from released numbers alone, the bytes of the areas, and what they are per.

    Colours of a logarithmic scale lie close together below 1: records are counted per so much
    ground that nearly all areas have one or more.
    """
    released = np.maximum(private[nodes], 0.0)
    ones = np.ones(len(nodes), dtype=np.int64)
    unit, ground = np.ones(len(nodes)), None
    if look.per == "km2":
        size = np.maximum(data.size_km2[nodes], 1e-9)
        ground = _ground(released / size)
        unit = size / ground
    if look.shows == "difference":
        scale = ColourScale(
            look.scale, top_value_of_leaves(half[nodes] / unit, ones, look.scale), "release"
        )
        off = (private[nodes] - data.true[nodes]) / unit
        return scale, scale.encode_difference(off.astype(np.float32)), ground
    top = top_value_of_leaves(released / unit, unit, look.scale)  # type: ignore[arg-type]
    scale = ColourScale(look.scale, top, "release")
    counts = released if look.shows == "private" else data.true[nodes].astype(np.float64)
    return scale, scale.encode((counts / unit).astype(np.float32)), ground


def _ground(density: Floats) -> float:
    """A power of ten of km2 on which a nearly empty area has one record or a few.

    >>> _ground(np.array([0.02, 3.0, 50.0])), _ground(np.array([700.0, 9000.0]))
    (10.0, 0.001)
    """
    some = density[density > 0]
    low = float(np.quantile(some, 0.1)) if len(some) else 1.0
    return float(10.0 ** np.clip(-np.floor(np.log10(low)), -4, 4))


def _inside(
    data: CountryData, release: CountryRelease, look: AreaLook, node: int, sight: Sight
) -> Inside | None:
    if not data.is_lowest[node]:
        return None
    try:
        inner_release = release.inside(data.areas.paths[node])
    except InputError:
        # Counts alone, or a map that begins above it.
        return None
    view = sight.inside if sight.area == node else Viewport.whole(data.frame(node))
    leaves, size = Leaves.of(inner_release), (view.height, view.width)
    scale = ColourScale(
        look.scale, top_value_of_leaves(leaves.density, leaves.cells, look.scale), "release"
    )
    private = mean_per_cell(_density(data, release, node), *view.cells(inner_release.grid), *size)
    if look.shows == "private":
        picture = scale.encode(private)
    else:
        matrix = data.inside(node)
        true = true_map(of_all_records(matrix).counts, matrix.grid, view).cells
        picture = (
            scale.encode(true) if look.shows == "true" else scale.encode_difference(private - true)
        )
    strength = 0.25 if look.shows == "difference" else 0.5
    drawn = partition(leaves, view, inner_release.grid, strength)
    return Inside(inner_release, scale, picture, drawn, view, data.border(node))


def _density(data: CountryData, release: CountryRelease, node: int) -> Floats:
    """Private count of every cell of an area's window, on its land alone."""
    nodes = release.node[release.tree.leaves]
    place = int(np.flatnonzero(nodes == data.windows.people.of[node])[0])
    inside = release.maps[place]
    assert inside is not None
    return inside.density(float(release.tree.value[release.tree.leaves[place]]))
