"""Colours, type and spacing of the page, light and dark, on the screen and on paper."""

from __future__ import annotations

from typing import Any

from explorer.app.kit import static

#: Of these Roboto is always there: it comes with the widgets, from the page's own server.
FONT = "Inter, -apple-system, 'Segoe UI', Roboto, system-ui, 'DejaVu Sans', sans-serif"
#: The sizes of type. The two of running text grow with the window: a wide one is a projector.
_SIZES = "clamp(12px, 9.5px + .18vw, 15px)", "clamp(14px, 11.2px + .2vw, 17px)", "18px", "13px"
#: Anyone who presents makes all of them larger by `--type`. The last is that of what is pressed.
SMALL, BASE, LARGE, _PRESSED = (f"calc({size} * var(--type, 1))" for size in _SIZES)
#: Of a page on paper.
INK, SHEET = "#111111", "#ffffff"
_COARSE, _PRINT = "@media (pointer: coarse)", "@media print"
#: A finger needs more than a pointer.
_FINGER = {"minHeight": "44px"}
_TOUCH = {_COARSE: {**_FINGER, "minWidth": "44px"}}
#: The height of what a page is in: the window, or the cell of a notebook that says otherwise.
WINDOW = "var(--explorer-window, 100vh)"
#: What only a hand on the screen can use is not printed.
_CONTROLS = (
    *("MuiAppBar", "MuiDrawer", "MuiButton", "MuiIconButton", "MuiToggleButtonGroup"),
    *("MuiToggleButton", "MuiSwitch"),
)
#: Of the frame around a page, which is as high as the window and scrolls inside. Paper has no
#: window, and maps and charts are drawn for the width of the screen: the page keeps that width and
#: is made smaller as a whole (``page.js``).
FRAME: dict[str, Any] = {
    _PRINT: {
        "display": "block",
        "width": "auto",
        "height": "auto",
        "overflow": "visible",
        "zoom": "var(--paper-zoom, 0.7)",
        "& main, & main > *": {
            "display": "block !important",
            "width": "var(--paper-width, auto)",
            "height": "auto !important",
            "minHeight": "0",
            "overflow": "visible !important",
            "backgroundColor": SHEET,
            "color": INK,
        },
        # The space that the bar takes.
        "& main > .MuiToolbar-root": {"display": "none !important"},
    },
    # Charts are pictures in the colours of the dark theme: turned around, hues stay what they are.
    "&.mui-dark": {_PRINT: {"--paper-turn": "invert(1) hue-rotate(180deg)"}},
    # The title in the bar leads to its beginning.
    "& header a": {
        _COARSE: {"display": "inline-flex", "alignItems": "center", "minHeight": "44px"}
    },
}


def _styles(*, bar: str, line: str, primary: str, chosen: str) -> dict[str, Any]:
    """Styles of parts of Material UI, by the name of its component and of the part."""
    return {
        # The title in the bar is white whatever the theme: the bar stays dark in both.
        "MuiAppBar": {
            "root": {
                "backgroundColor": bar,
                "backgroundImage": "none",
                "boxShadow": "none",
                "borderBottom": f"1px solid {line}",
                "color": "#ffffff",
            }
        },
        "MuiFormLabel": {"root": {"fontSize": BASE}},
        # A switch is touched on its words too, a field anywhere in its frame.
        "MuiFormControlLabel": {"label": {"fontSize": BASE}, "root": _TOUCH},
        "MuiInputBase": {"root": {"fontSize": BASE}},
        "MuiAccordionSummary": {
            "root": {
                "minHeight": "36px !important",
                "padding": "0 10px",
                _COARSE: {"minHeight": "44px !important"},
            },
            "content": {"margin": "6px 0 !important"},
        },
        # All that can be pressed shows that it has the focus, in the colour of its text.
        "MuiButtonBase": {
            "root": {
                "&.Mui-focusVisible": {
                    "outline": "2px solid currentColor",
                    "outlineOffset": "-2px",
                }
            }
        },
        "MuiToolbar": {"root": {"minHeight": "48px !important"}},
        "MuiButton": {"root": {"textTransform": "none", "fontSize": _PRESSED, **_TOUCH}},
        "MuiIconButton": {"root": _TOUCH},
        "MuiOutlinedInput": {"root": _TOUCH},
        # Its own padding for fingers leaves 42; more of it would move what is below.
        "MuiSlider": {"root": {_COARSE: {"padding": "21px 0"}}},
        "MuiToggleButton": {
            "root": {
                "textTransform": "none",
                "lineHeight": 1.3,
                "fontSize": _PRESSED,
                **_TOUCH,
                # Quiet: the full accent is for the one thing to press.
                "&.Mui-selected, &.Mui-selected:hover": {
                    "backgroundColor": f"{chosen} !important",
                    "boxShadow": f"inset 0 -2px {primary}",
                    "color": "inherit !important",
                    "fontWeight": 600,
                },
            }
        },
        # Headings that the page frame uses as spacers would be read out as empty headings.
        "MuiTypography": {"h5": {"visibility": "hidden"}},
        # The busy bar has no accessible name and mirrors other visitors' work.
        "MuiLinearProgress": {"root": {"display": "none"}},
    }


def _mode(page: str, paper: str, on_primary: str, **colours: str) -> Any:
    styles = _styles(**colours)
    for name in _CONTROLS:
        part = styles.setdefault(name, {})
        part["root"] = {**part.get("root", {}), _PRINT: {"display": "none !important"}}
    return {
        "palette": {
            "primary": {"main": colours["primary"], "contrastText": on_primary},
            "background": {"default": page, "paper": paper},
            "divider": colours["line"],
        },
        "typography": {
            "fontFamily": FONT,
            "fontSize": 14,
            # The name in the bar.
            "h3": {"fontSize": LARGE, "fontWeight": 700},
        },
        "shape": {"borderRadius": 4},
        "components": {name: {"styleOverrides": parts} for name, parts in styles.items()},
    }


_LIGHT = {"primary": "#0b5394", "bar": "#16202b", "line": "#d9dfe6"}
_DARK = {"primary": "#8ec5ff", "bar": "#10161d", "line": "#2a3541"}
THEME: dict[str, Any] = {
    "light": _mode("#f5f7fa", "#ffffff", "#ffffff", chosen="rgba(11, 83, 148, .10)", **_LIGHT),
    "dark": _mode("#10161d", "#161d26", "#0c1117", chosen="rgba(255, 255, 255, .12)", **_DARK),
}


def first_paint(dark: bool, title: str = "", drawer: bool = False, maps: int = 0) -> str:
    """Styles of a sketch of the page, with its name: bar, drawer, frames of maps.

    Parameters
    ----------
    dark : whether the theme is
    title : the name of the page
    drawer : whether it has one that is open
    maps : how many maps are side by side
    """
    mode = THEME["dark" if dark else "light"]
    ink, line = ("#ffffff", "255, 255, 255") if dark else ("#16202b", "22, 32, 43")
    side = 288 if drawer else 0
    # Left, top, width, height: as the page itself will place them in a window of a laptop.
    parts = ["0 48px / 280px 100vh"] if drawer else []
    for place in range(maps):
        left = f"calc({side + 16 + 20 * place}px + (100vw - {side}px) * {0.42 * place:.2f})"
        parts.append(f"{left} 124px / calc((100vw - {side}px) * .42) 58vh")
    fill = f"linear-gradient(rgba({line}, .07), rgba({line}, .07))"
    blocks = ", ".join(f"{fill} {part} no-repeat" for part in parts)
    waiting = "body:not(:has([data-root-id] > *))"
    wide = f"@media (min-width: 961px) {{ {waiting} {{ background: {blocks}; }} }}"
    return static.fill(
        "first_paint.css",
        paper=mode["palette"]["background"]["paper"],
        ink=ink,
        bar=(_DARK if dark else _LIGHT)["bar"],
        title=title.replace("\\", "").replace('"', ""),
        # Fonts that a browser has before a page has brought its own.
        font="system-ui, 'DejaVu Sans', sans-serif",
        waiting=waiting,
        sketch=wide if parts else "",
    )


_VALUES = {"FONT": FONT, "SMALL": SMALL, "BASE": BASE, "LARGE": LARGE, "INK": INK, "SHEET": SHEET}
#: Styles of the HTML pieces of `views.markup`.
CSS = static.fill("theme.css", **_VALUES)
CAUSES_CSS = static.read("causes.css")
TABLE_CSS = static.fill("table.css", **_VALUES) + CAUSES_CSS
#: Of charts without a ground of their own; maps keep theirs.
CHART_CSS = "@media print { :host { filter: var(--paper-turn, none); break-inside: avoid; } }"
#: For widgets whose label is spoken and not shown.
SPOKEN_LABEL = """
.MuiFormLabel-root { position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }
"""
#: The upload button has no small size of its own.
SMALL_BUTTON = f".MuiButton-root {{ font-size: {BASE}; padding: 3px 9px; }}"
