"""What is read at the pointer over a mark, in one type; its colours are those of the page."""

from __future__ import annotations

#: Styles of the window a page is in: Bokeh hangs tooltips on it, white in every theme.
CSS = """
body > .bk-Tooltip { --tooltip-color: var(--panel-surface-color, #ffffff);
  --tooltip-text: var(--panel-on-surface-color, #12171e);
  --tooltip-border: var(--panel-border-color, #b9c3cd); }
"""


def tooltip(text: str) -> str:
    """A tooltip of a `HoverTool`: HTML of our own with names of columns, such as ``@count``."""
    return f'<div style="font: 13px/18px Inter, system-ui, sans-serif">{text}</div>'
