"""How a release shows itself: as a card in a notebook, as a figure, on a web map, as an array.

Everything is made of released numbers, so it may be published wherever the release may.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.errors import InputError
from explorer.grid.cards import card
from explorer.releases.painter import painter
from explorer.releases.units import to_epsilon


class Shown:
    """Pictures and tables of a release; see `Release`."""

    def plot(
        self: Any,
        ax: Any = None,
        *,
        column: str = "density",
        scale: str = "log",
        partition: bool = True,
    ) -> Any:
        """Draw the private map with Matplotlib (extra ``plot``).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default those of a new figure.
        column : "density", "count", "noise_sd", "low" or "high"
            As of `to_geodataframe`; density is per km2, or per cell without a CRS.
        scale : "log" or "linear"
            Logarithmic colours show nothing where a number is 0 or below.
        partition : bool
            Whether the edges of the leaves are drawn.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InputError
            For a release that is no map, another column or scale, or without Matplotlib.

        Examples
        --------
        >>> from explorer import UG
        >>> release = UG(epsilon=1, grid_size=2).release([[9, 0], [8, 1]], rng=7)
        >>> axes = release.plot(column="count", scale="linear")
        >>> type(axes).__name__
        'Axes'
        """
        return painter().plot(self, ax, column, scale, partition)

    def explore(self: Any, *, tiles: Any = None, **options: Any) -> Any:
        """The leaves on a web map that can be moved and enlarged (extra ``plot``).

        The map's own scripts come from the net, and so do tiles, if they are asked.

        Parameters
        ----------
        tiles : str or None
            Of folium, such as "CartoDB positron"; None for no ground.
        **options : of `geopandas.GeoDataFrame.explore`, such as ``column="count"``

        Returns
        -------
        folium.Map

        Raises
        ------
        InputError
            For a release that is no map on the Earth, or without folium.

        Examples
        --------
        >>> from explorer import UG, FrequencyMatrix, Grid
        >>> grid = Grid.around(-122.42, 37.77, "4km", shape=2)
        >>> matrix = FrequencyMatrix([[9, 0], [8, 1]], grid)
        >>> drawn = UG(epsilon=1, grid_size=2).release(matrix, rng=7).explore(column="count")
        >>> type(drawn).__name__
        'Map'
        """
        return painter().explore(self, tiles, **options)

    def to_xarray(self: Any) -> Any:
        """The private density as an array with coordinates.

        Returns
        -------
        xarray.DataArray
            (y, x), private records per cell, with the centres of the cells in metres of the grid
            (cells without a CRS), south first. ``attrs`` say mechanism, epsilon, unit and CRS.

        Raises
        ------
        InputError
            For a release that is no map.

        Examples
        --------
        >>> from explorer import UG
        >>> release = UG(epsilon=1, grid_size=2).release([[9, 0], [8, 1]], rng=7)
        >>> release.to_xarray().sel(x=0.5, y=1.5).attrs["mechanism"]
        'ug'
        """
        import xarray

        grid = self.grid
        x0, y0, _, _ = grid.bounds
        rows, columns = grid.shape
        return xarray.DataArray(
            self.density(),
            dims=("y", "x"),
            coords={
                "y": y0 + (np.arange(rows) + 0.5) * grid.cell_height,
                "x": x0 + (np.arange(columns) + 0.5) * grid.cell_width,
            },
            name="density",
            attrs={
                "mechanism": self.mechanism,
                "epsilon": float(to_epsilon(self.units)),
                "unit_of_privacy": self.unit,
                "preview": self.preview,
                "crs": "" if grid.crs is None else grid.crs.to_wkt(),
            },
        )

    @property
    def __geo_interface__(self: Any) -> dict[str, Any]:
        """The leaves as a GeoJSON-like FeatureCollection, in degrees where the grid has a CRS."""
        frame = self.to_geodataframe(crs=None if self.grid.crs is None else 4326)
        result: dict[str, Any] = frame.__geo_interface__
        return result

    def _repr_html_(self: Any) -> str:
        epsilon = f"{to_epsilon(self.units):.12g} per {self.unit}"
        rows = {
            "mechanism": self.mechanism,
            "epsilon": epsilon,
            "leaves": f"{self.n_leaves:,}",
            "records in all": f"about {self.total:,.0f}",
            "noise of a leaf": f"{float(np.median(self.sd)):,.1f} (standard deviation, median)",
        }
        sides = " x ".join(f"{n:,}" for n in self.domain.shape)
        rows["cells"] = sides
        picture, name = b"", ""
        try:
            grid = self.grid
        except InputError:
            pass  # of several places: no single map shows it
        else:
            name = grid.name
            if grid.crs is not None:
                rows["extent"] = f"{grid.width / 1000:,.1f} x {grid.height / 1000:,.1f} km"
            picture = painter().poster(self)
        return card(
            f"Private map of {name}" if name else "Private map" if picture else "Private counts",
            rows,
            badge="preview" if self.preview else "release",
            picture=picture,
            seen="The private map.",
            note="Reproducible noise: not private, not to be published." if self.preview else "",
        )
