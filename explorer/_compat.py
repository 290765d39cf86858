"""Versions of libraries that the package distinguishes: the one place that compares them."""

from importlib.metadata import version


def _at_least(distribution: str, major: int, minor: int) -> bool:
    return tuple(map(int, version(distribution).split(".")[:2])) >= (major, minor)


#: Handlers run in threads of their own, and the current document is restored after errors.
BOKEH_GE_310 = _at_least("bokeh", 3, 10)
#: What waits to be sent is sent.
PANEL_GE_110 = _at_least("panel", 1, 10)
