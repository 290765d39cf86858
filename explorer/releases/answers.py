"""What a release answers: counts, and how far noise may have moved them."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

Z95 = 1.96
"""Standard deviations on either side that hold 95 % of a normal distribution."""

#: A longer table is cut where it is printed.
_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers to n boxes or polygons.

    Parameters
    ----------
    value : (n,) float64
        Private counts, in records; noise may make one negative.
    sd : (n,) float64, 0 or more
        Standard deviation of their noise part, in records, given the partition. The rest of the
        error comes from uneven spread inside leaves, which no release can know.
    sd_exact : bool
        Whether `sd` is a closed form (linear inference) or an estimate.
    rows : GeoDataFrame, GeoSeries or None
        What was asked, whose index and shapes `to_frame` keeps.

    Examples
    --------
    >>> from explorer import UG, Answers
    >>> answers = UG(epsilon=1, grid_size=2).release([[9, 0], [8, 1]], rng=7).answer([[0, 0, 1, 2]])
    >>> isinstance(answers, Answers), len(answers), bool(answers.sd[0] > 0)
    (True, 1, True)
    """

    value: Floats
    sd: Floats
    sd_exact: bool = True
    rows: Any = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Answers):
            return NotImplemented
        return (
            np.array_equal(self.value, other.value, equal_nan=True)
            and np.array_equal(self.sd, other.sd, equal_nan=True)
            and self.sd_exact == other.sd_exact
        )

    __hash__ = None  # type: ignore[assignment]

    def interval(self, level: float = 0.95, *, z: float | None = None) -> tuple[Floats, Floats]:
        """Approximate interval of the noise part, value -+ z sd.

        Uneven spread inside leaves comes on top of it.

        Parameters
        ----------
        level : float, above 0 and below 1
            Chance that noise stays inside.
        z : float, 0 or more, optional
            Standard deviations on either side, in place of a level.

        Returns
        -------
        (n,) lower and (n,) upper ends, in records

        Raises
        ------
        InputError
            For a level or z out of range.

        Examples
        --------
        >>> low, high = Answers(np.array([10.0]), np.array([2.0])).interval(0.5)
        >>> low.round(2).tolist(), high.round(2).tolist()
        ([8.65], [11.35])
        """
        chance: object = level
        if z is None:
            if not (isinstance(chance, int | float) and 0 < level < 1):
                raise InputError(
                    f"The level of an interval is {level!r}: give a chance between 0 and 1 such as "
                    "0.95, or z= for standard deviations."
                )
            z = Z95 if level == 0.95 else NormalDist().inv_cdf((1 + level) / 2)
        elif not (math.isfinite(z) and z >= 0):
            raise InputError(f"z is {z!r}: give standard deviations, a number of 0 or more.")
        return self.value - z * self.sd, self.value + z * self.sd

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """A table of the answers; of shapes a GeoDataFrame with their index, names and geometry.

        Parameters
        ----------
        level : float, above 0 and below 1
            Of the interval of the noise.

        Returns
        -------
        DataFrame of n rows: private (count), noise_sd, low, high

        Raises
        ------
        InputError
            For a level out of range.

        Examples
        --------
        >>> Answers(np.array([10.0]), np.array([2.0])).to_frame().columns.tolist()
        ['private', 'noise_sd', 'low', 'high']
        """
        import pandas as pd

        low, high = self.interval(level)
        columns = {"private": self.value, "noise_sd": self.sd, "low": low, "high": high}
        if self.rows is None:
            return pd.DataFrame(columns)
        import geopandas

        shapes = self.rows.geometry
        named = {"name": self.rows["name"]} if "name" in getattr(self.rows, "columns", ()) else {}
        return geopandas.GeoDataFrame(
            {**named, **columns}, geometry=shapes.array, crs=shapes.crs, index=self.rows.index
        )

    def __repr__(self) -> str:
        if len(self) > _SHOWN:
            middle = float(np.median(self.sd))
            return f"Answers({len(self):,} private counts, noise sd {middle:.3g} in the middle)"
        return f"Answers(value={self.value}, sd={self.sd}, sd_exact={self.sd_exact})"

    def _repr_html_(self) -> str:
        listed = self.to_frame()
        if "geometry" in listed:
            listed = listed.drop(columns="geometry")
        text = "" if self.sd_exact else " Standard deviations are estimates."
        return (
            f"{listed.round(1).to_html(max_rows=_SHOWN, border=0)}"
            f"<p>{len(self):,} private counts; low to high: 95 % interval of the noise alone."
            f"{html.escape(text)}</p>"
        )
