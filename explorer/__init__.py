"""Explore differentially private maps: from a city's points to a private map one can question.

>>> from explorer import HTF, FrequencyMatrix, exact
>>> matrix = FrequencyMatrix.from_array([[9, 0, 0], [8, 0, 1], [9, 9, 0]])
>>> release = HTF(epsilon=1, T=3).release(matrix, rng=7)
>>> private = release.answer([[0, 0, 2, 3]]).value
>>> truth = exact(matrix, [[0, 0, 2, 3]])

Names are loaded when they are first used (PEP 562), so that importing the package costs nothing and
a process that serves an audience never loads the rooms that hold exact numbers.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.compiled_code import remove_outdated
from explorer.grid.countable import lend
from explorer.releases import painter
from explorer.version import __version__ as __version__

if TYPE_CHECKING:
    from explorer.country.mechanism import Country
    from explorer.errors import InputError
    from explorer.evaluate.comparison import compare
    from explorer.federated.mechanism import Federated
    from explorer.federated.people import People
    from explorer.grid.areas.areas import Areas
    from explorer.grid.grid import Grid
    from explorer.grid.places import TripDomain
    from explorer.mechanisms import (
        AG,
        EBP,
        EUG,
        HB,
        HTF,
        MKM,
        UG,
        DAFEntropy,
        DAFHomogeneity,
        Gravity,
        Hierarchy,
        Identity,
        KDCell,
        KDHybrid,
        KDStandard,
        Mechanism,
        Mosaic,
        Privlet,
        PrivTree,
        QuadTree,
        Uniform,
        all_mechanisms,
        mechanism,
    )
    from explorer.points.area_counts import AreaCounts
    from explorer.points.matrix import FrequencyMatrix
    from explorer.points.partitions import PointFiles, scan_points
    from explorer.points.points import Points, read_points
    from explorer.points.truth import exact
    from explorer.privacy.ledger import Ledger
    from explorer.privacy.session import Session
    from explorer.releases.answers import Answers
    from explorer.releases.country import CountryRelease
    from explorer.releases.release import Release
    from explorer.trips.matrix import TripMatrix
    from explorer.trips.trips import Trips, read_trips

__all__ = [
    "AG",
    "EBP",
    "EUG",
    "HB",
    "HTF",
    "MKM",
    "UG",
    "Answers",
    "AreaCounts",
    "Areas",
    "Country",
    "CountryRelease",
    "DAFEntropy",
    "DAFHomogeneity",
    "Federated",
    "FrequencyMatrix",
    "Gravity",
    "Grid",
    "Hierarchy",
    "Identity",
    "InputError",
    "KDCell",
    "KDHybrid",
    "KDStandard",
    "Ledger",
    "Mechanism",
    "Mosaic",
    "People",
    "PointFiles",
    "Points",
    "PrivTree",
    "Privlet",
    "QuadTree",
    "Release",
    "Session",
    "TripDomain",
    "TripMatrix",
    "Trips",
    "Uniform",
    "all_mechanisms",
    "compare",
    "exact",
    "mechanism",
    "read_points",
    "read_trips",
    "scan_points",
]

# Before any module with kernels is loaded.
remove_outdated(Path(__file__).parent)

# The modules of the names above; what is not listed here is a mechanism.
_HOMES = {
    "Answers": "releases.answers",
    "AreaCounts": "points.area_counts",
    "Areas": "grid.areas.areas",
    "Country": "country.mechanism",
    "CountryRelease": "releases.country",
    "Federated": "federated.mechanism",
    "FrequencyMatrix": "points.matrix",
    "Grid": "grid.grid",
    "InputError": "errors",
    "People": "federated.people",
    "PointFiles": "points.partitions",
    "Points": "points.points",
    "Ledger": "privacy.ledger",
    "Release": "releases.release",
    "Session": "privacy.session",
    "TripDomain": "grid.places",
    "TripMatrix": "trips.matrix",
    "Trips": "trips.trips",
    "compare": "evaluate.comparison",
    "exact": "points.truth",
    "read_points": "points.points",
    "read_trips": "trips.trips",
    "scan_points": "points.partitions",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'explorer' has no attribute {name!r}")
    result = getattr(import_module(f"explorer.{_HOMES.get(name, 'mechanisms')}"), name)
    globals()[name] = result
    return result


def _read(points: Any, columns: Any) -> Any:
    return import_module("explorer.points.reading").as_points(points, columns)


# Grids and areas know no point: what they are given to count is read by a space that they do not
# name, which is loaded here and only then.
lend(_read)
painter.lend(lambda: import_module("explorer.views.plotting"))


def __dir__() -> list[str]:
    return sorted(__all__)
