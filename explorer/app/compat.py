"""Cures for faults of Panel and Bokeh, each for the versions that have it; applied by `serve`.

Reports for upstream: ``notebooks/design/2026-11-27-reports-for-panel.md``.
"""

from __future__ import annotations

import textwrap
from functools import lru_cache
from types import SimpleNamespace

from panel import custom

_dedent = lru_cache(maxsize=16)(textwrap.dedent)


def apply() -> None:
    """Apply the cures to this process; a second call changes nothing."""
    dedent_scripts_once()


def dedent_scripts_once() -> None:
    """Each component has its 1.4 MB script dedented anew: half the time of opening a page.

    Panel 1.9 and 1.10, ``ReactiveESM._render_esm``.
    """
    if getattr(custom, "textwrap", None) is textwrap:
        custom.textwrap = SimpleNamespace(dedent=_dedent)
