"""Areas inside areas, from the names that a table gives them level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid import values

Ints = NDArray[np.int64]
Path = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AreaTree:
    """Nodes level by level; node 0 is the whole and has no name.

    Attributes
    ----------
    parent : (n,) node that each is in, -1 for the root
    level : (n,) how many names its path has, 0 for the root
    paths : (n,) names from the highest level down
    lowest : (m,) node of each row of the table, in its order
    """

    parent: Ints
    level: Ints
    paths: tuple[Path, ...]
    lowest: Ints


def tree_of(paths: Sequence[Path], levels: Sequence[str]) -> AreaTree:
    """The tree of m areas from their paths, siblings in the order of the table.

    Parameters
    ----------
    paths : (m,) names from the highest level down; branches may have fewer levels than others
    levels : what the levels are called

    Raises
    ------
    InputError
        For a path that is there twice, or that is an area and holds others as well.
    """
    rows: dict[Path, int] = {}
    for number, path in enumerate(paths):
        if path in rows:
            raise InputError(
                f"Rows {rows[path] + 1} and {number + 1} are both the area {spoken(path)}; give "
                "each area one row and a name of its own."
            )
        rows[path] = number
    nodes: list[Path] = [()]
    for depth in range(1, len(levels) + 1):
        nodes += dict.fromkeys(path[:depth] for path in paths if len(path) >= depth)
    number_of = {path: number for number, path in enumerate(nodes)}
    parent = np.array([number_of[path[:-1]] if path else -1 for path in nodes], dtype=np.int64)
    holds = set(parent.tolist())
    for path, row in rows.items():
        if number_of[path] in holds:
            raise InputError(
                f"Row {row + 1} is the area {spoken(path)}, and other areas lie in it; name it at "
                f"the level {levels[len(path)]!r} too."
            )
    level = np.array([len(path) for path in nodes], dtype=np.int64)
    lowest = np.array([number_of[path] for path in paths], dtype=np.int64)
    for array in (parent, level, lowest):
        array.setflags(write=False)
    return AreaTree(parent, level, tuple(nodes), lowest)


def spoken(path: Path) -> str:
    """A path for a sentence, each name cut to what one can read.

    >>> spoken(("Wales", "Powys"))
    "'Wales' > 'Powys'"
    """
    return " > ".join(values.shown(name) for name in path)
