"""Uploaded files are not trusted: each is read in a process of its own, with limits.

`read_apart` is called in the process that serves. The fork server is a small process next to it
that has loaded the readers and forks one for each file: none inherits a thread, a visitor's data or
a page. What a reader has found comes back as numbers, texts and arrays (`plain`), never as objects.
"""

from explorer.grid.apart.limits import LIMITS, Limits
from explorer.grid.apart.reading import Ended, GivenUp, read_apart

__all__ = ["LIMITS", "Ended", "GivenUp", "Limits", "read_apart"]
