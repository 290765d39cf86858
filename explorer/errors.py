"""The one error a person is meant to read."""

from __future__ import annotations

import re
from collections.abc import Callable

_ADVICE = re.compile(
    r"""\b(lon|lat|crs|user|weight|layer)="""
    r"""(?:(?P<quote>['"])(?P<name>.*?)(?P=quote)|(?P<bare>[^'",;. ]*)(?:\.\.\.)?)"""
)


class InputError(ValueError):
    """What was given cannot be used; one sentence says what was wrong and what to do.

    The app shows the message as it is and the command line prints it without a traceback, so it
    is written for a reader who does not know the code.

    Examples
    --------
    >>> from explorer import Grid, InputError
    >>> try:
    ...     Grid.around(52.52, 134.0, "20km")
    ... except InputError as refusal:
    ...     print(refusal)
    Longitude 52.52, latitude 134 is not a place on the Earth; give the centre in degrees, longitude
    first.
    """


def reworded(sentence: str, write: Callable[[str, str], str]) -> str:
    """A sentence whose advice to Python, such as lon='x', is written as a person gives it here.

    Parameters
    ----------
    write : makes words of a name, such as "lon", and its value, "" where none is given

    Examples
    --------
    >>> reworded(
    ...     "give crs='EPSG:27700' or lon=...", lambda name, value: f"--{name} {value}".strip()
    ... )
    'give --crs EPSG:27700 or --lon'
    """

    def written(advice: re.Match[str]) -> str:
        return write(advice[1], advice["name"] or advice["bare"] or "")

    return _ADVICE.sub(written, sentence)
