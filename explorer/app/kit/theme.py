"""Colours, type and spacing of the page, light and dark."""

from __future__ import annotations

from typing import Any

from explorer.app.kit import paper

FONT = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def _mode(*, page: str, paper: str, primary: str, on_primary: str, bar: str, line: str) -> Any:
    return {
        "palette": {
            "primary": {"main": primary, "contrastText": on_primary},
            "background": {"default": page, "paper": paper},
            "divider": line,
        },
        "typography": {"fontFamily": FONT, "fontSize": 14},
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
            "MuiFormLabel": {"styleOverrides": {"root": {"fontSize": "14px"}}},
            "MuiFormControlLabel": {"styleOverrides": {"label": {"fontSize": "14px"}}},
            "MuiInputBase": {"styleOverrides": {"root": {"fontSize": "15px"}}},
            "MuiAccordionSummary": {
                "styleOverrides": {
                    "root": {"minHeight": "36px !important", "padding": "0 10px"},
                    "content": {"margin": "6px 0 !important"},
                }
            },
            "MuiToolbar": {"styleOverrides": {"root": {"minHeight": "48px !important"}}},
            "MuiButton": {"styleOverrides": {"root": {"textTransform": "none"}}},
            "MuiToggleButton": {
                "styleOverrides": {
                    "root": {
                        "textTransform": "none",
                        "lineHeight": 1.3,
                        "&.Mui-selected, &.Mui-selected:hover": {
                            "backgroundColor": primary,
                            "color": on_primary,
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
    ),
    "dark": _mode(
        page="#10161d",
        paper="#161d26",
        primary="#8ec5ff",
        on_primary="#0c1117",
        bar="#10161d",
        line="#2a3541",
    ),
}

#: Styles of the HTML pieces of `views.markup`; colours follow the theme through currentColor.
CSS = f"""
:host {{ font-family: {FONT}; color: inherit; min-width: 0; max-width: 100%; }}
h2 {{ font-size: 16px; line-height: 22px; font-weight: 600; margin: 0; }}
h2 small {{ font-size: 13px; font-weight: 400; opacity: .78; margin-left: 6px; }}
h2.section {{ font-size: 13px; line-height: 18px; font-weight: 700; margin: 8px 0 0; }}
p {{ font-size: 13px; line-height: 18px; margin: 0; }}
.quiet, h2 + p {{ opacity: .78; }}
.help {{ font-size: 12.5px; line-height: 17px; opacity: .82; margin: 0 0 6px;
  border-left: 2px solid currentColor; padding-left: 8px; }}
.summary {{ font-size: 14px; line-height: 20px; max-width: 110ch; }}
.figures {{ display: flex; flex-wrap: wrap; gap: 8px 28px; margin: 0; }}
.figures div {{ min-width: 88px; }}
@media (max-width: 600px) {{ .figures {{ gap: 8px 0; }} .figures div {{ width: 50%; }} }}
.figures dt {{ font-size: 13px; line-height: 18px; opacity: .78; white-space: nowrap; }}
.figures dd {{ font-size: 22px; line-height: 28px; font-weight: 600; margin: 0;
  font-variant-numeric: tabular-nums; white-space: nowrap; }}
.figures.four div {{ width: auto; min-width: 0; }}
.figures.four {{ display: grid; grid-template-columns: repeat(4, 1fr); gap: 0 10px;
  margin-top: 4px; }}
.figures.four dd {{ font-size: 19px; line-height: 25px; }}
.bar .caption {{ font-size: 13px; line-height: 18px; opacity: .85; }}
.bar .gradient {{ height: 10px; border-radius: 2px; margin: 3px 0 2px; }}
.bar .ticks {{ position: relative; height: 18px; }}
.bar .ticks span {{ position: absolute; transform: translateX(-50%); font-size: 12px;
  line-height: 18px; opacity: .85; font-variant-numeric: tabular-nums; white-space: nowrap; }}
.bar .ticks span:first-child {{ transform: none; }}
.bar .ticks span:last-child:not(:first-child) {{ transform: translateX(-100%); }}
.bars {{ display: grid; grid-template-columns: 1fr 1fr; gap: 20px; }}
.ledger .stack {{ display: flex; height: 12px; border-radius: 3px; overflow: hidden; gap: 1px; }}
.ledger .stack i {{ min-width: 2px; flex-basis: 0; }}
.ledger ul {{ display: flex; flex-wrap: wrap; gap: 2px 18px; list-style: none; padding: 0;
  margin: 6px 0 0; font-size: 13px; line-height: 20px; }}
.ledger li i {{ display: inline-block; width: 10px; height: 10px; border-radius: 2px;
  margin-right: 6px; }}
.ledger li span {{ opacity: .7; }}
h3 {{ font-size: 14px; line-height: 20px; font-weight: 600; margin: 0; }}
h3 + p {{ opacity: .78; }}
.beside {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 320px), 1fr));
  gap: 8px 24px; }}
.pages {{ display: flex; gap: 4px; }}
.pages a {{ color: #ffffff; font-size: 14px; line-height: 20px; padding: 4px 10px;
  border-radius: 4px; text-decoration: none; opacity: .85; }}
@media (max-width: 600px) {{ .pages {{ gap: 0; flex-wrap: wrap; max-width: 196px; }}
  .pages a {{ padding: 2px 4px; font-size: 12.5px; line-height: 18px; }} }}
.pages a:hover, .pages a:focus-visible {{ opacity: 1; background: rgba(255, 255, 255, .14); }}
.pages a[aria-current] {{ opacity: 1; font-weight: 600; box-shadow: inset 0 -2px #8ec5ff; }}
.progress {{ display: flex; align-items: center; gap: 12px; font-size: 14px; line-height: 20px; }}
.progress .rail {{ flex: 1 1 120px; max-width: 420px; height: 10px; border-radius: 5px;
  overflow: hidden; background: rgba(128, 140, 152, .35); }}
.progress .rail i {{ display: block; height: 100%; background: #3b8fd6; }}
.scroll {{ overflow-x: auto; }}
.numbers {{ border-collapse: collapse; font-size: 13px; line-height: 18px;
  font-variant-numeric: tabular-nums; }}
.numbers caption {{ text-align: left; opacity: .78; padding: 2px 0 4px; }}
.numbers th, .numbers td {{ padding: 4px 8px 4px 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid rgba(128, 140, 152, .35); font-weight: 400; }}
.numbers thead th {{ font-weight: 600; }}
.numbers th:first-child {{ text-align: left; font-weight: 600; }}
.numbers small {{ opacity: .7; font-size: 12px; font-weight: 400; }}
.numbers .best {{ font-weight: 700; }}
.numbers .place {{ display: inline-block; min-width: 18px; padding: 0 4px; margin-right: 4px;
  border-radius: 9px; text-align: center; font-size: 12px; line-height: 18px;
  box-sizing: border-box;
  background: rgba(128, 140, 152, .22); }}
.numbers .best .place {{ background: #0b5394; color: #ffffff; }}
.facts {{ border-collapse: collapse; font-size: 13px; line-height: 18px; width: 100%; }}
.facts th, .facts td {{ text-align: left; vertical-align: top; padding: 3px 16px 3px 0;
  border-bottom: 1px solid rgba(128, 140, 152, .35); font-variant-numeric: tabular-nums; }}
.facts th {{ font-weight: 600; white-space: nowrap; width: 1%; }}
.facts small {{ opacity: .78; font-size: 12.5px; margin-left: 8px; display: inline-block; }}
@media (max-width: 600px) {{ .facts small {{ margin-left: 0; }} }}
.verdict {{ font-size: 19px; line-height: 26px; font-weight: 600; margin: 2px 0 !important;
  opacity: 1 !important; font-variant-numeric: tabular-nums; }}
.node .wide {{ grid-column: 1 / -1; }}
.turns {{ margin: 2px 0 8px; padding-left: 18px; font-size: 14px; line-height: 20px; }}
.numbers .swatch {{ vertical-align: -1px; margin-right: 8px; }}
details summary {{ font-size: 13px; line-height: 24px; cursor: pointer; }}
@media (max-width: 600px) {{ .badge {{ display: none !important; }} }}
.badge {{ display: inline-block; font-size: 12px; line-height: 18px; font-weight: 600;
  padding: 1px 8px; border-radius: 9px; border: 1px solid currentColor; }}
.notice {{ border-left: 4px solid #d96a00; background: rgba(217, 106, 0, .14);
  padding: 8px 12px; border-radius: 3px; font-size: 14px; line-height: 20px; }}
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
SMALL_BUTTON = ".MuiButton-root { font-size: 13px; padding: 3px 9px; }"

#: The table of boxes: thirteen columns beside a drawer on a small laptop.
TABLE_CSS = (
    """
:host .tabulator { font-size: 13px; }
:host .tabulator .tabulator-header .tabulator-col .tabulator-col-content { padding: 6px 4px; }
:host .tabulator .tabulator-header .tabulator-col-title { font-size: 12.5px; font-weight: 600; }
:host .tabulator .tabulator-row .tabulator-cell { padding: 6px 4px; font-variant-numeric:
  tabular-nums; }
/* In JupyterLab every second row had Material's fainter text. */
:host .pnx-tabulator.tabulator .tabulator-tableholder .tabulator-table
  .tabulator-row.tabulator-row-even { color: inherit; }
div.causes { display: flex; justify-content: space-between; gap: 6px; line-height: 15px; }
div.causes i { display: inline-block; width: 8px; height: 8px; border-radius: 2px;
  margin-right: 4px; }
svg.causes { display: block; width: 100%; height: 7px; margin-top: 2px; }
"""
    + paper.TABLE_CSS
)
