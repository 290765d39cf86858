"""Styles of the Class page, besides those of the theme and of the lessons."""

from __future__ import annotations

from typing import Any

from explorer.app.kit.html import html_pane
from explorer.app.kit.prose import LEARN_CSS

CLASS_CSS = """
.invitation { margin: 8px 0 0; display: flex; flex-wrap: wrap; gap: 6px 32px; align-items: center;
  padding: 10px 14px; border-radius: 4px; border: 1px solid rgba(128, 140, 152, .45); }
.invitation > div:last-child { flex: 1 1 320px; min-width: 0; overflow-wrap: anywhere; }
.invitation a { color: inherit; }
.code { font-size: 40px; line-height: 48px; font-weight: 700; letter-spacing: .06em;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
.asked { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: flex-start; }
.asked > div { flex: 1 1 220px; min-width: 0; }
.asked h2 + p { opacity: 1; }
.locator { flex: none; }
.warned { border-left: 4px solid #d96a00; padding-left: 10px; }
.qr { flex: none; width: 132px; height: 132px; background: #ffffff; border-radius: 4px; }
.qr svg { display: block; width: 100%; height: 100%; }
.projector { margin: 0 0 8px; }
.projector .lead { font-size: 20px; line-height: 28px; overflow-wrap: anywhere; }
.projector .wall { font-size: 52px; line-height: 64px; }
.projector .count { font-size: 30px; line-height: 40px; font-weight: 600; margin: 6px 0;
  font-variant-numeric: tabular-nums; }
.projector .qr { width: min(100%, 320px); height: auto; aspect-ratio: 1; margin: 8px 0 16px; }
.projector .asked { margin-bottom: 10px; }
.projector .asked > div { flex: 1 1 320px; }
"""


def class_pane(text: str = "", margin: Any = 0) -> Any:
    """A pane for our own HTML, in the styles of this page."""
    return html_pane(text, margin, [LEARN_CSS, CLASS_CSS])
