"""Import guard of the public server's process: packages of exact numbers cannot be loaded in it.

Nothing in this package asks for it. So this stops what should never happen: a later change that
would, or someone who has found a way to have a module loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

#: packages of this library that a process for others may load; any other is exact.
ROOMS = (
    *("errors", "version", "compiled_code", "grid", "releases", "queries", "views"),
    *("publish", "serving", "audience"),
)
#: Libraries that draw noise, that read any format there is, or that make sessions.
LIBRARIES = ("opendp", "pyogrio", "osgeo", "fiona", "rasterio", "panel", "holoviews")


class Wall:
    """Refuses modules, as a finder that is asked before all others."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise `ImportError` for what must not be loaded; say nothing of the rest."""
        if beyond(name):
            raise ImportError(f"{name} may hold exact numbers: a server for others has none.")


def beyond(name: str) -> bool:
    """Whether the guard refuses a module.

    >>> beyond("explorer.points.truth"), beyond("explorer.releases.release"), beyond("opendp.mod")
    (True, False, True)
    """
    library, _, rest = name.partition(".")
    if library != "explorer":
        return library in LIBRARIES
    return bool(rest) and rest.partition(".")[0] not in ROOMS


def build(modules: Sequence[str] | None = None) -> None:
    """Build it for this process, for good.

    Raises
    ------
    RuntimeError
        Where something beyond it is loaded already.
    """
    loaded = sorted(filter(beyond, sys.modules if modules is None else modules))
    if loaded:
        raise RuntimeError(f"a server for others must not have loaded {loaded[0]}")
    if not any(isinstance(finder, Wall) for finder in sys.meta_path):
        sys.meta_path.insert(0, Wall())
