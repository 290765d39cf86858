"""Maps on paper: side by side with boxes, tags, bars, scale and caption, as SVG or PNG.

No browser is asked. What is laid out once is painted twice: in SVG pictures are embedded, and all
else is lines and text; Pillow paints the same as PNG.
"""

from __future__ import annotations

import base64
import html
import importlib.util
import io
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.markup import safe_text
from explorer.views.viewport import Viewport

#: Width of a map, the space around it, and the height of a line of text, in pixels.
SIDE, GAP, LINE = 560, 20, 18
#: Lines of more leaves than so many are a grey film on any paper.
MOST_LEAVES = 20_000
INK, QUIET, ALARM = "#12171e", "#4a5562", "#b3261e"
#: Pixels of a PNG for one of the layout.
_FINE = 2


@dataclass(frozen=True, eq=False)
class MapPicture:
    """One map of a sheet.

    Parameters
    ----------
    title : above it
    below : a line below its title; one that warns is printed in red
    levels : (height, width) bytes 0..255, row 0 south
    colours : 256 of them, hex
    view : what of the map the picture shows
    leaves : (m, 4) edges of leaves in grid units, none for no partition
    boxes : (n, 4) edges of boxes, with a text and a colour for each in ``tags``
    rings : of the boxes that represent a polygon its rings, (k, 2) each; () for a box
    bar : what the colours say, and places 0..1 with labels
    unit : of the grid, "m" or "cells"
    """

    title: str
    below: str
    levels: NDArray[np.uint8]
    colours: Sequence[str]
    view: Viewport
    leaves: NDArray[np.float64]
    boxes: NDArray[np.float64]
    tags: Sequence[tuple[str, str]]
    bar: tuple[str, Sequence[tuple[float, str]]]
    unit: str = "m"
    alarming: bool = False
    rings: Sequence[Sequence[NDArray[np.float64]]] = ()


@dataclass(frozen=True, eq=False)
class _Image:
    x: float
    y: float
    width: float
    height: float
    levels: NDArray[np.uint8]
    colours: Sequence[str]


@dataclass(frozen=True, eq=False)
class _Rects:
    """Outlines, (n, 4) left, top, right, bottom, cut off at the edges of ``inside``."""

    edges: NDArray[np.float64]
    colour: str
    width: float
    alpha: float = 1.0
    filled: bool = False


@dataclass(frozen=True, eq=False)
class _Rings:
    """Closed lines through places, (k, 2) x and y each."""

    rings: Sequence[NDArray[np.float64]]
    colour: str
    width: float


@dataclass(frozen=True)
class _Text:
    x: float
    y: float
    text: str
    size: int = 13
    colour: str = INK
    bold: bool = False
    anchor: str = "start"


Mark = _Image | _Rects | _Rings | _Text


@dataclass(frozen=True, eq=False)
class Sheet:
    """A sheet that is laid out: its size in pixels, its marks from the lowest up."""

    width: float
    height: float
    marks: Sequence[Mark]

    def svg(self) -> str:
        """The sheet as SVG: pictures embedded, all else vectors."""
        size = f"{self.width:.0f} {self.height:.0f}"
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" role="img" '
            f'width="{self.width:.0f}" height="{self.height:.0f}" '
            'font-family="Inter, system-ui, Helvetica, Arial, sans-serif">',
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *map(_as_svg, self.marks),
            "</svg>",
        ]
        return "\n".join(parts)

    def png(self) -> bytes:
        """The sheet as PNG, two pixels for each of the layout."""
        from PIL import Image, ImageDraw

        paper = Image.new("RGB", (round(self.width * _FINE), round(self.height * _FINE)), "white")
        for mark in self.marks:
            if isinstance(mark, _Image):
                size = round(mark.width * _FINE), round(mark.height * _FINE)
                picture = _picture(mark).convert("RGB").resize(size, Image.Resampling.NEAREST)
                paper.paste(picture, (round(mark.x * _FINE), round(mark.y * _FINE)))
            elif isinstance(mark, _Rects):
                # Lines that are see-through need a layer of their own.
                layer = Image.new("L", paper.size, 0)
                pen = ImageDraw.Draw(layer)
                for edges in (mark.edges * _FINE).tolist():
                    if mark.filled:
                        pen.rectangle(edges, fill=255)
                    else:
                        pen.rectangle(edges, outline=255, width=max(round(mark.width * _FINE), 1))
                layer = layer.point(lambda level, alpha=mark.alpha: round(level * alpha))
                paper.paste(mark.colour, (0, 0), layer)
            elif isinstance(mark, _Rings):
                pen = ImageDraw.Draw(paper)
                for ring in mark.rings:
                    path = [(x, y) for x, y in (np.vstack([ring, ring[:1]]) * _FINE).tolist()]
                    pen.line(path, mark.colour, round(mark.width * _FINE), joint="curve")
            else:
                _write(ImageDraw.Draw(paper), mark)
        file = io.BytesIO()
        paper.save(file, "PNG", optimize=True)
        return file.getvalue()


def sheet(pictures: Sequence[MapPicture], caption: Sequence[str]) -> Sheet:
    """Lay maps out side by side, all of one height, with lines of text below them."""
    marks: list[Mark] = []
    heights = [SIDE * picture.levels.shape[0] / picture.levels.shape[1] for picture in pictures]
    left = float(GAP)
    top = GAP + 2 * LINE + 8.0
    for map_picture, height in zip(pictures, heights, strict=True):
        marks += _map(map_picture, left, top, height)
        left += SIDE + GAP
    bottom = top + max(heights) + 2 * LINE + 30
    for number, line in enumerate(caption):
        at = bottom + (number + 1) * LINE
        marks.append(_Text(GAP, at, safe_text(line, 160), 13, INK if number == 0 else QUIET))
    return Sheet(left, bottom + (len(caption) + 1) * LINE, marks)


def _map(picture: MapPicture, left: float, top: float, height: float) -> list[Mark]:
    view = picture.view
    frame = np.array([[left, top, left + SIDE, top + height]])
    below = _Text(
        left, top - 8, safe_text(picture.below, 90), 12, ALARM if picture.alarming else QUIET
    )
    marks: list[Mark] = [
        _Text(left, top - 8 - LINE, safe_text(picture.title), 16, bold=True),
        below,
        _Image(left, top, SIDE, height, picture.levels, picture.colours),
    ]

    def placed(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Boxes in the view as pixels of the sheet, cut off at the frame."""
        x0, y0, x1, y1 = boxes.T
        across, up = SIDE / (view.x1 - view.x0), height / (view.y1 - view.y0)
        edges = np.stack([x0 - view.x0, view.y1 - y1, x1 - view.x0, view.y1 - y0], axis=1)
        edges = edges * [across, up, across, up]
        corner = np.array([left, top, left, top])
        return np.clip(edges, 0, [SIDE, height, SIDE, height]) + corner

    if len(picture.leaves) <= MOST_LEAVES:
        leaves = placed(picture.leaves)
        wide = np.minimum(leaves[:, 2] - leaves[:, 0], leaves[:, 3] - leaves[:, 1]) > 1.5
        marks.append(_Rects(leaves[wide], palette.LINE, 0.5, 0.3))
    boxes = placed(picture.boxes)
    whole = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])
    plain = whole & np.array(
        [not rings for rings in picture.rings or [()] * len(boxes)], dtype=bool
    )
    # A corner is a box without size.
    rings = [placed(np.hstack([ring, ring]))[:, :2] for row in picture.rings for ring in row]
    for colour, width in ((palette.RIM, 4), (palette.BOX, 2)):
        marks += [_Rects(boxes[plain], colour, width), _Rings(rings, colour, width)]
    for (x0, y0, *_), (text, colour) in zip(
        boxes[whole],
        [tag for tag, good in zip(picture.tags, whole, strict=True) if good],
        strict=True,
    ):
        text = safe_text(text, 48)
        room = 8.0 * len(text) + 10
        x = min(x0, left + SIDE - room)
        y = max(y0 - 20, top)
        marks.append(_Rects(np.array([[x, y, x + room, y + 18]]), colour, 0, filled=True))
        marks.append(_Text(x + 5, y + 13.5, text, 12, "#ffffff", bold=True))
    marks += [_Rects(frame, INK, 1), *_scale(picture, left, top + height)]
    return [*marks, *_bar(picture, left, top + height)]


def _scale(picture: MapPicture, left: float, bottom: float) -> list[Mark]:
    """A length that is 1, 2 or 5 times a power of ten, about a fifth of the map."""
    width = picture.view.x1 - picture.view.x0
    power = 10.0 ** np.floor(np.log10(width / 4))
    length = float(power * max(m for m in (1, 2, 5) if m * power <= width / 4))
    pixels = length * SIDE / width
    kilo = picture.unit == "m" and length >= 1000
    text = f"{length / 1000:g} km" if kilo else f"{length:g} {picture.unit}"
    x, y = left + 10, bottom - 12
    ground = np.array([[x - 6, y - 22, x + max(pixels, 40) + 6, y + 8]])
    return [
        _Rects(ground, palette.RIM, 0, 0.75, filled=True),
        _Rects(np.array([[x, y, x + pixels, y + 3]]), palette.NODE, 0, filled=True),
        _Text(x, y - 6, text, 12, palette.NODE),
    ]


def _bar(picture: MapPicture, left: float, bottom: float) -> list[Mark]:
    caption, ticks = picture.bar
    top = bottom + LINE + 6
    ramp = np.arange(256, dtype=np.uint8)[None]
    marks: list[Mark] = [
        _Text(left, bottom + LINE, safe_text(caption, 90), 12, QUIET),
        _Image(left, top, SIDE, 10, ramp, picture.colours),
    ]
    last = -np.inf
    for place, text in sorted(ticks):
        x = left + place * SIDE
        if x - last >= 34:
            anchor = "start" if place < 0.02 else "end" if place > 0.98 else "middle"
            marks.append(_Text(x, top + 24, text, 11, QUIET, anchor=anchor))
            last = x
    return marks


def _picture(mark: _Image) -> Any:
    """North up, in the colours of its palette."""
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(mark.levels[::-1]), "P")
    image.putpalette(b"".join(bytes.fromhex(colour[1:7]) for colour in mark.colours))
    return image


def _as_svg(mark: Mark) -> str:
    if isinstance(mark, _Image):
        file = io.BytesIO()
        _picture(mark).save(file, "PNG", optimize=True)
        return (
            f'<image x="{mark.x:.1f}" y="{mark.y:.1f}" width="{mark.width:.1f}" '
            f'height="{mark.height:.1f}" preserveAspectRatio="none" image-rendering="pixelated" '
            f'href="data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"/>'
        )
    if isinstance(mark, _Rects):
        path = "".join(
            f"M{x0:.1f} {y0:.1f}H{x1:.1f}V{y1:.1f}H{x0:.1f}Z" for x0, y0, x1, y1 in mark.edges
        )
        look = f'fill="none" stroke="{mark.colour}" stroke-width="{mark.width:g}"'
        look = f'fill="{mark.colour}"' if mark.filled else look
        return f'<path d="{path}" {look} opacity="{mark.alpha:g}"/>'
    if isinstance(mark, _Rings):
        rings = (" ".join(f"{x:.1f} {y:.1f}" for x, y in ring.tolist()) for ring in mark.rings)
        path = "".join(f"M{ring}Z" for ring in rings)
        return (
            f'<path d="{path}" fill="none" stroke="{mark.colour}" stroke-width="{mark.width:g}"/>'
        )
    weight = ' font-weight="600"' if mark.bold else ""
    return (
        f'<text x="{mark.x:.1f}" y="{mark.y:.1f}" font-size="{mark.size}" fill="{mark.colour}"'
        f'{weight} text-anchor="{mark.anchor}">{html.escape(mark.text)}</text>'
    )


def _write(pen: Any, mark: _Text) -> None:
    font, knows_all = _font(mark.size * _FINE, mark.bold)
    text = mark.text if knows_all else _plain(mark.text)
    anchor = {"start": "ls", "middle": "ms", "end": "rs"}[mark.anchor]
    pen.text((mark.x * _FINE, mark.y * _FINE), text, fill=mark.colour, font=font, anchor=anchor)


@lru_cache
def _font(size: int, bold: bool) -> tuple[Any, bool]:
    """A font of this machine that knows more than ASCII; Pillow brings one that does not."""
    from PIL import ImageFont

    name = f"DejaVuSans{'-Bold' if bold else ''}.ttf"
    places = [name, "Arial Bold.ttf" if bold else "Arial.ttf"]
    spec = importlib.util.find_spec("matplotlib")
    if spec is not None and spec.origin is not None:
        places.append(str(Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf" / name))
    for place in places:
        try:
            return ImageFont.truetype(place, size), True
        except OSError:
            continue
    return ImageFont.load_default(size), False


def _plain(text: str) -> str:
    """A text in ASCII, as near as may be."""
    for sign, plain in (("−", "-"), ("–", "-"), ("…", "..."), ("×", "x"), ("≈", "~")):
        text = text.replace(sign, plain)
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "replace").decode()
    return folded.replace("?", "") if "?" not in text else folded
