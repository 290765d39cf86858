"""For tests of mechanisms, yours and ours: checks that every one must pass, and sources of noise.

>>> import pytest
>>> from explorer import QuadTree
>>> from explorer.testing import mechanism_checks
>>> @pytest.mark.parametrize("check", mechanism_checks(QuadTree), ids=str)
... def test_it_keeps_its_promises(check):
...     check()
"""

from explorer.testing.checks import Check, mechanism_checks, registered
from explorer.testing.sources import BlindNoise, NoNoise, towns

__all__ = [
    "BlindNoise",
    "Check",
    "NoNoise",
    "mechanism_checks",
    "registered",
    "towns",
]
