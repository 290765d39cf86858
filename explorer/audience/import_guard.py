"""Import guard of the public server's process: packages of exact numbers cannot be loaded in it.

Nothing in this package asks for one: the guard stops a later change that would, or someone who has
found a way to have a module loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

#: Packages of this library that a process for others may load; any other is exact.
PACKAGES = (
    *("errors", "version", "compiled_code", "grid", "releases", "queries", "views"),
    *("publish", "serving", "audience"),
)
#: Libraries that draw noise, that read any format there is, or that make sessions.
LIBRARIES = ("opendp", "pyogrio", "osgeo", "fiona", "rasterio", "panel", "holoviews")


class ImportGuard:
    """A finder that is asked before all others."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise `ImportError` for what must not be loaded; find nothing else."""
        if forbidden(name):
            raise ImportError(f"{name} may hold exact numbers: a server for others has none.")


def forbidden(name: str) -> bool:
    """Whether the guard refuses a module.

    >>> forbidden("explorer.points.truth"), forbidden("explorer.releases.tree")
    (True, False)
    >>> forbidden("opendp.mod")
    True
    """
    library, _, rest = name.partition(".")
    if library != "explorer":
        return library in LIBRARIES
    return bool(rest) and rest.partition(".")[0] not in PACKAGES


def install(modules: Sequence[str] | None = None) -> None:
    """Guard this process, for good.

    Raises
    ------
    RuntimeError
        Where something that is forbidden is loaded already.
    """
    loaded = sorted(filter(forbidden, sys.modules if modules is None else modules))
    if loaded:
        raise RuntimeError(f"a server for others must not have loaded {loaded[0]}")
    if not any(isinstance(finder, ImportGuard) for finder in sys.meta_path):
        sys.meta_path.insert(0, ImportGuard())
