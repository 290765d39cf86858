"""The picture of one city while another is read: it fades, and says what it is."""

from __future__ import annotations

import html
from typing import Any

from explorer.app.kit.html import html_pane, put

# It stays at the upper edge while the page is scrolled, takes no space, and moves nothing.
_OVER = """
:host { position: sticky !important; top: 12px; height: 0 !important; overflow: visible !important;
  z-index: 1200; pointer-events: none; }
.old { width: fit-content; margin: 44px auto 0; padding: 8px 14px; border-radius: 4px;
  font-size: 16px; line-height: 22px; font-weight: 600; box-shadow: 0 2px 10px rgba(0, 0, 0, .45);
  background: var(--panel-surface-color, Canvas); border: 1px solid currentColor; }
"""
FADED = "0.35"


class Waiting:
    """Fades everything on a page but its messages.

    Parameters
    ----------
    body : the page's column
    apart : what does not fade
    """

    def __init__(self, body: Any, apart: Any) -> None:
        self._body, self._apart = body, apart
        self._label = html_pane(visible=False)
        self._label.stylesheets = [*self._label.stylesheets, _OVER]
        body.insert(0, self._label)

    def begin(self, old: str, new: str) -> None:
        """The city ``old`` is on screen while ``new`` is read."""
        text = f"{html.escape(old)}, while {html.escape(new)} is read"
        put(self._label, f'<div class="old">{text}</div>')
        self._label.visible = True
        self._fade(FADED)

    def end(self) -> None:
        """What is on screen is what was chosen."""
        if self._label.visible:
            self._label.visible = False
            self._fade(None)

    def _fade(self, opacity: str | None) -> None:
        for part in self._body.objects:
            if part is not self._label and part is not self._apart:
                # A browser keeps a style that is left out; None takes it away.
                part.styles = {**part.styles, "opacity": opacity}
