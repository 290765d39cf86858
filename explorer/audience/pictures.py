"""Pictures of a release: what it holds under each pixel, with the lines of its leaves."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from explorer.audience.releases import ServedRelease
from explorer.errors import InputError
from explorer.views.palette import EDGE_ALPHAS, PALETTES, line_over, rgb
from explorer.views.pictures import private_map
from explorer.views.raster import leaf_edges
from explorer.views.scale import ColourScale
from explorer.views.viewport import Viewport

#: Colours of a map in the light, in the dark, and without any.
LOOKS = ("cividis", "magma", "paper")
#: Of the opacity of a line on a map that is drawn in a browser.
_FAINT = 0.7
_BAD = "This address asks for no part of the map: open the map again."


@dataclass(frozen=True)
class PictureRequest:
    """What is arguments for; the same for all who ask for the same.

    Attributes
    ----------
    view : part of the map, and pixels
    look : one of `LOOKS`
    lines : whether leaves have lines
    """

    view: Viewport
    look: str
    lines: bool

    @classmethod
    def of(cls, arguments: Mapping[str, str], served: ServedRelease) -> PictureRequest:
        """From an address.

        Parameters
        ----------
        arguments : "at" as west,south,east,north in metres, "size" as width,height in pixels,
            "look", "lines" as 0 or 1

        Raises
        ------
        InputError
            For what no page of ours asks.
        """
        at, size = numbers_of(arguments.get("at", ""), 4), numbers_of(arguments.get("size", ""), 2)
        look, lines = arguments.get("look", ""), arguments.get("lines", "")
        if look not in LOOKS or lines not in ("0", "1"):
            raise InputError(_BAD)
        bounds = at[0], at[1], at[2], at[3]
        view = Viewport.of(bounds, size[0], size[1], served.release.grid)
        return cls(view, look, lines == "1")


def numbers_of(text: str, count: int) -> list[float]:
    """Numbers of an address, with commas between them.

    Raises
    ------
    InputError
        For anything else.
    """
    try:
        numbers = [float(number) for number in text[:200].split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise InputError(_BAD)
    return numbers


def draw_png(served: ServedRelease, picture: PictureRequest, scale: ColourScale) -> bytes:
    """The picture as PNG, north up."""
    from PIL import Image

    release, leaves, view = served.release, served.leaves, picture.view
    levels = scale.encode(private_map(release, leaves, view))
    if picture.lines:
        cells = view.cells(release.grid)
        edges = leaf_edges(leaves.lower, leaves.upper, *cells, view.height, view.width)
        # A quarter of the colours for each strength of a line.
        levels = levels >> 2 | edges << 6
    image = Image.fromarray(np.ascontiguousarray(levels[::-1]), "P")
    image.putpalette(_colours(picture.look, picture.lines))
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()


@cache
def _colours(look: str, lines: bool) -> bytes:
    """256 colours, three bytes each."""
    whole = np.array([rgb(colour) for colour in PALETTES[look]])
    if not lines:
        return whole.astype(np.uint8).tobytes()
    line = np.array(rgb(line_over(PALETTES[look])))
    # What means nothing stays so, and the last colour is reached.
    few = whole[np.rint(np.linspace(0, 255, 64)).astype(int)]
    mixed = [few + _FAINT * alpha * (line - few) for alpha in EDGE_ALPHAS]
    return np.rint(np.concatenate(mixed)).astype(np.uint8).tobytes()
