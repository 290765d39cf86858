"""Explore differentially private maps: from a city's points to a private map one can question.

>>> from explorer import HTF, FrequencyMatrix, exact
>>> matrix = FrequencyMatrix.from_array([[9, 0, 0], [8, 0, 1], [9, 9, 0]])
>>> release = HTF(epsilon=1, T=3).release(matrix, rng=7)
>>> private = release.answer([[0, 0, 2, 3]]).value
>>> truth = exact(matrix, [[0, 0, 2, 3]])
"""

__version__ = "0.1.0"

from explorer.errors import InputError
from explorer.grid import Grid
from explorer.matrix import FrequencyMatrix
from explorer.mechanisms import (
    AG,
    HB,
    HTF,
    UG,
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
    mechanism,
    mechanisms,
)
from explorer.points import Points, read_points
from explorer.queries import exact
from explorer.release import Answers, Release

__all__ = [
    "AG",
    "HB",
    "HTF",
    "UG",
    "Answers",
    "FrequencyMatrix",
    "Grid",
    "Hierarchy",
    "Identity",
    "InputError",
    "KDCell",
    "KDHybrid",
    "KDStandard",
    "Mechanism",
    "Mosaic",
    "Points",
    "PrivTree",
    "Privlet",
    "QuadTree",
    "Release",
    "Uniform",
    "exact",
    "mechanism",
    "mechanisms",
    "read_points",
]
