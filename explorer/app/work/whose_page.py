"""A cure for a fault of Bokeh 3.9: after a failure a page stays the one that is being handled.

While a page's message is handled, ``bokeh.io.doc.patch_curdoc`` says whose page it is, and takes it
back afterwards, but not where the handling fails. So one wrong value of one visitor, which is
refused by an error, made that page the present one for all that a server does between messages,
for good: what is then shown "here" is shown to somebody else, and once that page has gone, asking
for the present one is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bokeh.application.handlers import code
from bokeh.io import doc as pages
from panel.io import handlers


def take_back() -> None:
    """Let whose page is handled be taken back however the handling ends."""
    plain = pages.patch_curdoc
    if hasattr(plain, "original"):
        return

    @contextmanager
    def patch_curdoc(doc: Any) -> Iterator[None]:
        before = len(pages._PATCHED_CURDOCS)
        try:
            with plain(doc):
                yield
        finally:
            # Where nothing has failed Bokeh has done it.
            del pages._PATCHED_CURDOCS[before:]

    patch_curdoc.original = plain  # type: ignore[attr-defined]
    for module in (pages, code, handlers):
        module.patch_curdoc = patch_curdoc
