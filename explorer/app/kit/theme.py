"""Colours, type and spacing of the page, light and dark."""

from __future__ import annotations

from typing import Any

from explorer.app.kit import paper

#: Of these Roboto is always there: it comes with the widgets, from the page's own server.
FONT = "Inter, -apple-system, 'Segoe UI', Roboto, system-ui, 'DejaVu Sans', sans-serif"
#: The four sizes of type. The two of running text grow with the window: a wide one is a projector.
_SIZES = "clamp(12px, 9.5px + .18vw, 15px)", "clamp(14px, 11.2px + .2vw, 17px)", "18px", "28px"
#: Anyone who presents makes all of them larger by `--type`.
SMALL, BASE, LARGE, HUGE = (f"calc({size} * var(--type, 1))" for size in _SIZES)


#: The type of what is pressed.
_PRESSED = "calc(13px * var(--type, 1))"
#: A finger needs more than a pointer.
_TOUCH = {"@media (pointer: coarse)": {"minHeight": "44px", "minWidth": "44px"}}
#: Of the frame around a page: the title in the bar leads to its beginning.
TITLE_TOUCH: dict[str, Any] = {
    "& header a": {
        "@media (pointer: coarse)": {
            "display": "inline-flex",
            "alignItems": "center",
            "minHeight": "44px",
        }
    }
}


def _mode(
    *, page: str, paper: str, primary: str, on_primary: str, bar: str, line: str, chosen: str
) -> Any:
    return {
        "palette": {
            "primary": {"main": primary, "contrastText": on_primary},
            "background": {"default": page, "paper": paper},
            "divider": line,
        },
        "typography": {
            "fontFamily": FONT,
            "fontSize": 14,
            # The name in the bar.
            "h3": {"fontSize": LARGE, "fontWeight": 700},
        },
        "shape": {"borderRadius": 4},
        "components": {
            # The title in the bar is white whatever the theme: the bar stays dark in both.
            "MuiAppBar": {
                "styleOverrides": {
                    "root": {
                        "backgroundColor": bar,
                        "backgroundImage": "none",
                        "boxShadow": "none",
                        "borderBottom": f"1px solid {line}",
                        "color": "#ffffff",
                    }
                }
            },
            "MuiFormLabel": {"styleOverrides": {"root": {"fontSize": BASE}}},
            # A switch is touched on its words too, a field anywhere in its frame.
            "MuiFormControlLabel": {
                "styleOverrides": {"label": {"fontSize": BASE}, "root": _TOUCH}
            },
            "MuiInputBase": {"styleOverrides": {"root": {"fontSize": BASE}}},
            "MuiAccordionSummary": {
                "styleOverrides": {
                    "root": {
                        "minHeight": "36px !important",
                        "padding": "0 10px",
                        "@media (pointer: coarse)": {"minHeight": "44px !important"},
                    },
                    "content": {"margin": "6px 0 !important"},
                }
            },
            # All that can be pressed shows that it has the focus, in the colour of its text.
            "MuiButtonBase": {
                "styleOverrides": {
                    "root": {
                        "&.Mui-focusVisible": {
                            "outline": "2px solid currentColor",
                            "outlineOffset": "-2px",
                        }
                    }
                }
            },
            "MuiToolbar": {"styleOverrides": {"root": {"minHeight": "48px !important"}}},
            "MuiButton": {
                "styleOverrides": {
                    "root": {"textTransform": "none", "fontSize": _PRESSED, **_TOUCH}
                }
            },
            "MuiIconButton": {"styleOverrides": {"root": _TOUCH}},
            "MuiOutlinedInput": {"styleOverrides": {"root": _TOUCH}},
            # Its own padding for fingers leaves 42; more of it would move what is below.
            "MuiSlider": {
                "styleOverrides": {
                    "root": {"@media (pointer: coarse)": {"padding": "21px 0"}},
                }
            },
            "MuiToggleButton": {
                "styleOverrides": {
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
                }
            },
            # Headings that the page frame uses as spacers would be read out as empty headings.
            "MuiTypography": {"styleOverrides": {"h5": {"visibility": "hidden"}}},
            # The busy bar has no accessible name and mirrors other visitors' work.
            "MuiLinearProgress": {"styleOverrides": {"root": {"display": "none"}}},
        },
    }


THEME: dict[str, Any] = {
    "light": _mode(
        page="#f5f7fa",
        paper="#ffffff",
        primary="#0b5394",
        on_primary="#ffffff",
        bar="#16202b",
        line="#d9dfe6",
        chosen="rgba(11, 83, 148, .10)",
    ),
    "dark": _mode(
        page="#10161d",
        paper="#161d26",
        primary="#8ec5ff",
        on_primary="#0c1117",
        bar="#10161d",
        line="#2a3541",
        chosen="rgba(255, 255, 255, .12)",
    ),
}


#: Fonts that a browser has before a page has brought its own.
_READY = "system-ui, 'DejaVu Sans', sans-serif"


def first_paint(dark: bool, title: str = "", drawer: bool = False, maps: int = 0) -> str:
    """Styles of the window until page and theme are there, which then put their own in their place.

    Until then a sketch of the page is there, with its name: bar, drawer, frames of maps.

    Parameters
    ----------
    dark : whether the theme is
    title : the name of the page
    drawer : whether it has one that is open
    maps : how many maps are side by side
    """
    palette = THEME["dark" if dark else "light"]["palette"]["background"]
    ink, bar = ("#ffffff", "#10161d") if dark else ("#16202b", "#16202b")
    line = "rgba(255, 255, 255, .07)" if dark else "rgba(22, 32, 43, .07)"
    side = 288 if drawer else 0
    # Left, top, width, height: as the page itself will place them in a window of a laptop.
    parts: list[tuple[int | str, int, int | str, str]]
    parts = [(0, 48, side - 8, "100vh")] if drawer else []
    width = f"calc((100vw - {side}px) * .42)"
    for place in range(maps):
        left = f"calc({side + 16 + 20 * place}px + (100vw - {side}px) * {0.42 * place:.2f})"
        parts.append((left, 124, width, "58vh"))
    blocks = ", ".join(
        f"linear-gradient({line}, {line}) {_px(x)} {_px(y)} / {_px(w)} {_px(h)} no-repeat"
        for x, y, w, h in parts
    )
    name = title.replace("\\", "").replace('"', "")
    waiting = "body:not(:has([data-root-id] > *))"
    return (
        f":root {{ --mui-palette-background-default: {palette['paper']}; "
        f"--mui-palette-text-primary: {ink}; }} #loader {{ background: none !important; }} "
        f'{waiting}::before {{ content: "{name}"; position: fixed; inset: 0 0 auto; '
        f"padding: 0 68px; background: {bar}; color: #ffffff; "
        f"font: 600 18px/48px {_READY}; }} "
        f'{waiting}::after {{ content: "Opening the page \\2026"; position: fixed; '
        f"inset: calc(50% + 44px) 0 auto; text-align: center; font: 16px/24px {_READY}; }} "
        + (
            f"@media (min-width: 961px) {{ {waiting} {{ background: {blocks}; }} }}"
            if parts
            else ""
        )
    )


def _px(length: int | str) -> str:
    return f"{length}px" if isinstance(length, int) else length


#: Styles of the HTML pieces of `views.markup`; colours follow the theme through currentColor.
CSS = f"""
:host {{ font-family: {FONT}; color: inherit; min-width: 0; max-width: 100%; }}
h2 {{ font-size: {LARGE}; line-height: 1.35; font-weight: 600; margin: 0; }}
h2 small {{ font-size: {BASE}; font-weight: 400; opacity: .78; margin-left: 6px; }}
h2.section {{ font-size: {BASE}; line-height: 1.4; font-weight: 700; margin: 8px 0 0; }}
p {{ font-size: {BASE}; line-height: 1.4; margin: 0; }}
.quiet, h2 + p {{ opacity: .78; }}
.ends {{ display: flex; justify-content: space-between; margin: 0; }}
.help {{ font-size: {SMALL}; line-height: 1.4; opacity: .82; margin: 0 0 6px;
  border-left: 2px solid currentColor; padding-left: 8px; }}
.summary {{ font-size: {BASE}; line-height: 1.4; max-width: 110ch; }}
.figures {{ display: flex; flex-wrap: wrap; gap: 8px 28px; margin: 0; }}
.figures div {{ min-width: 88px; }}
@media (max-width: 600px) {{ .figures {{ gap: 8px 0; }} .figures div {{ width: 50%; }} }}
.figures dt {{ font-size: {BASE}; line-height: 1.4; opacity: .78; white-space: nowrap; }}
.figures dd {{ font-size: {LARGE}; line-height: 1.35; font-weight: 600; margin: 0;
  font-variant-numeric: tabular-nums; white-space: nowrap; }}
.figures.four div {{ width: auto; min-width: 0; }}
.figures.four {{ display: grid; grid-template-columns: repeat(4, 1fr); gap: 0 10px;
  margin-top: 4px; }}
.figures.four dd {{ font-size: {LARGE}; line-height: 1.35; }}
.head {{ display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 10px; }}
.heads {{ display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 20px; }}
.head h2 {{ line-height: 1.2; }}
.head p.read {{ font-size: {BASE}; font-weight: 600; font-variant-numeric: tabular-nums; }}
.head p {{ font-size: {SMALL}; }}
.lead {{ font-size: {BASE}; max-width: 110ch; }}
.heads .figures {{ display: flex; gap: 0 12px; margin: 0; }}
.heads .figures div {{ display: flex; gap: 6px; align-items: baseline; }}
.heads .figures dt {{ font-size: {SMALL}; }}
.heads .figures.four dd {{ font-size: {BASE}; }}
.figures.line {{ gap: 0 12px; justify-content: flex-end; }}
.figures.line div {{ display: flex; gap: 6px; align-items: baseline; min-width: 0; width: auto; }}
.figures.line dt {{ font-size: {SMALL}; }}
.figures.line dd {{ font-size: {BASE}; }}
.figures.line dt, .figures.line dd {{ line-height: 1.25; }}
.ledger .stack {{ display: flex; height: 12px; border-radius: 3px; overflow: hidden; gap: 1px; }}
.ledger .stack i {{ min-width: 2px; flex-basis: 0; }}
.ledger ul {{ display: flex; flex-wrap: wrap; gap: 2px 18px; list-style: none; padding: 0;
  margin: 6px 0 0; font-size: {BASE}; line-height: 1.4; }}
.ledger li i {{ display: inline-block; width: 10px; height: 10px; border-radius: 2px;
  margin-right: 6px; }}
.ledger li span {{ opacity: .7; }}
h3 {{ font-size: {BASE}; line-height: 1.4; font-weight: 600; margin: 0; }}
h3 + p {{ opacity: .78; }}
.beside {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 320px), 1fr));
  gap: 8px 24px; }}
.pages {{ display: flex; gap: 4px; }}
.pages a {{ color: #ffffff; font-size: {BASE}; line-height: 1.4; padding: 4px 10px;
  border-radius: 4px; text-decoration: none; opacity: .85; }}
/* One row that a finger can hit and push aside; its end fades while there is more. */
@media (max-width: 600px) {{ .pages {{ gap: 0; max-width: calc(100vw - 196px); overflow-x: auto;
    padding-right: 16px; scrollbar-width: none;
    mask-image: linear-gradient(to left, transparent, black 24px); }}
  .pages a {{ flex: none; padding: 0 8px; line-height: 44px; min-width: 28px; }} }}
.pages a:hover, .pages a:focus-visible {{ opacity: 1; background: rgba(255, 255, 255, .14); }}
.pages a[aria-current] {{ opacity: 1; font-weight: 600; box-shadow: inset 0 -2px #8ec5ff; }}
.progress {{ display: flex; align-items: center; gap: 12px; font-size: {BASE}; line-height: 1.4; }}
.progress .rail {{ flex: 1 1 120px; max-width: 420px; height: 10px; border-radius: 5px;
  overflow: hidden; background: rgba(128, 140, 152, .35); }}
.progress .rail i {{ display: block; height: 100%; background: #3b8fd6; }}
.scroll {{ overflow-x: auto; }}
.numbers {{ border-collapse: collapse; font-size: {BASE}; line-height: 1.4;
  font-variant-numeric: tabular-nums; }}
.numbers caption {{ text-align: left; opacity: .78; padding: 2px 0 4px; }}
.numbers th, .numbers td {{ padding: 4px 8px 4px 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid rgba(128, 140, 152, .35); font-weight: 400; }}
.numbers thead th {{ font-weight: 600; white-space: normal; vertical-align: bottom; }}
.numbers th:first-child {{ text-align: left; font-weight: 600; }}
.numbers small {{ opacity: .7; font-size: {SMALL}; font-weight: 400; }}
.numbers .best {{ font-weight: 700; }}
.numbers .place {{ display: inline-block; min-width: 18px; padding: 0 4px; margin-right: 4px;
  border-radius: 9px; text-align: center; font-size: {SMALL}; line-height: 1.4;
  box-sizing: border-box;
  background: rgba(128, 140, 152, .22); }}
.numbers .best .place {{ background: #0b5394; color: #ffffff; }}
.facts {{ border-collapse: collapse; font-size: {BASE}; line-height: 1.4; width: 100%; }}
.facts th, .facts td {{ text-align: left; vertical-align: top; padding: 3px 16px 3px 0;
  border-bottom: 1px solid rgba(128, 140, 152, .35); font-variant-numeric: tabular-nums; }}
.facts th {{ font-weight: 600; white-space: nowrap; width: 1%; }}
.facts small {{ opacity: .78; font-size: {SMALL}; margin-left: 8px; display: inline-block; }}
@media (max-width: 600px) {{ .facts small {{ margin-left: 0; }} }}
.verdict {{ font-size: {LARGE}; line-height: 1.35; font-weight: 600; margin: 2px 0 !important;
  opacity: 1 !important; font-variant-numeric: tabular-nums; }}
.node .wide {{ grid-column: 1 / -1; }}
.turns {{ margin: 2px 0 8px; padding-left: 18px; font-size: {BASE}; line-height: 1.4; }}
.numbers .swatch {{ vertical-align: -1px; margin-right: 8px; }}
details summary {{ font-size: {BASE}; line-height: 1.4; cursor: pointer; }}
@media (max-width: 1180px) {{ .badge {{ display: none !important; }} }}
.badge {{ display: inline-block; font-size: {SMALL}; line-height: 1.4; font-weight: 600;
  padding: 1px 8px; border-radius: 9px; border: 1px solid currentColor; }}
.notice {{ border-left: 4px solid #d96a00; background: rgba(217, 106, 0, .14);
  padding: 8px 12px; border-radius: 3px; font-size: {BASE}; line-height: 1.4; }}
.notice.info {{ border-color: #3b8fd6; background: rgba(59, 143, 214, .14); }}
.visually-hidden {{ position: absolute; width: 1px; height: 1px; margin: -1px; padding: 0;
  overflow: hidden; clip-path: inset(50%); white-space: nowrap; border: 0; }}
{paper.CSS}
"""

#: For widgets whose label is spoken and not shown.
SPOKEN_LABEL = """
.MuiFormLabel-root { position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }
"""

#: The upload button has no small size of its own.
SMALL_BUTTON = f".MuiButton-root {{ font-size: {BASE}; padding: 3px 9px; }}"

#: Causes of an error: numbers in the table, and their key below it.
CAUSES_CSS = """
div.causes { display: flex; justify-content: space-between; gap: 6px; line-height: 15px; }
div.causes i { display: inline-block; width: 8px; height: 8px; border-radius: 2px;
  margin-right: 4px; }
div.causes.key { justify-content: flex-start; flex-wrap: wrap; gap: 2px 14px; margin: 2px 0; }
div.causes.key i { width: 10px; height: 10px; }
"""

#: A table (``table.js``): thirteen columns next to a drawer on a small laptop.
TABLE_CSS = f"""
:host {{ font-family: {FONT}; color: inherit; }}
:host(.refused) .scroll {{ outline: 2px solid #d32f2f; outline-offset: 1px; }}
:host > div, .scroll {{ max-height: inherit; width: 100%; }}
.scroll {{ overflow: auto; }}
table {{ width: 100%; border-collapse: separate; border-spacing: 0; table-layout: fixed;
  font-size: {BASE}; line-height: 1.4; font-variant-numeric: tabular-nums; }}
th, td {{ padding: 2px 4px; height: 24px; text-align: right; font-weight: 400;
  overflow-wrap: anywhere; border-bottom: 1px solid rgba(128, 140, 152, .35); }}
th.left, td.left {{ text-align: left; }}
th.center, td.center {{ text-align: center; }}
thead th {{ position: sticky; top: 0; z-index: 2; padding: 2px 4px; vertical-align: bottom;
  font-size: {SMALL}; font-weight: 600; overflow-wrap: normal;
  background: var(--mui-palette-background-paper, Canvas); }}
tbody th {{ white-space: nowrap; }}
tbody tr:hover {{ background-color: rgba(128, 140, 152, .12); }}
/* Quiet enough for the bars in it: blue on blue was 1.3 to 1. */
tbody tr.selected {{ background-color: rgba(128, 140, 152, .22); box-shadow: inset 4px 0 #ec5b8f; }}
button, input {{ font: inherit; color: inherit; background: none; border: 1px solid transparent;
  border-radius: 3px; padding: 1px 2px; margin: 0; text-align: inherit; box-sizing: border-box; }}
button {{ cursor: pointer; overflow-wrap: anywhere; }}
td button {{ line-height: 0; padding: 4px 8px; }}
input {{ width: 100%; min-width: 0; appearance: textfield; }}
input::-webkit-inner-spin-button {{ appearance: none; margin: 0; }}
input:hover {{ border-color: rgba(128, 140, 152, .6); }}
th button + input {{ width: calc(100% - 18px); }}
:is(button, input):focus-visible {{ outline: 2px solid currentColor; outline-offset: -1px; }}
[data-act=select] {{ width: 16px; height: 20px; padding: 0; margin-right: 2px;
  vertical-align: middle; }}
[data-act=select]::before {{ content: ""; display: block; width: 8px; height: 8px; margin: auto;
  border: 1px solid currentColor; border-radius: 50%; opacity: .6; }}
[data-act=select][aria-pressed=true]::before {{ background: #ec5b8f; opacity: 1; }}
thead button::after {{ content: " ↕"; opacity: .5; }}
[aria-sort=ascending] button::after {{ content: " ↑"; opacity: 1; }}
[aria-sort=descending] button::after {{ content: " ↓"; opacity: 1; }}
.empty {{ font-size: {BASE}; opacity: .78; margin: 12px; text-align: center; }}
@media (pointer: coarse) {{ button, input {{ min-height: 44px; }}
  td button {{ width: 44px; }}
  /* No room for 44 pixels beside the name: a finger selects by a tap on the row. */
  [data-act=select] {{ display: none; }} th button + input {{ width: 100%; }} }}
@media print {{
  thead th {{ background: {paper.SHEET}; }}
  table {{ color: {paper.INK}; }}
  tr {{ break-inside: avoid; }}
  :host, :host > div, .scroll {{ max-height: none !important; overflow: visible; }}
}}
{CAUSES_CSS}
svg.causes {{ display: block; width: 100%; height: 7px; margin-top: 1px; }}
"""
