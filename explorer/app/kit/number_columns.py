"""How numbers stand in the columns of tables: as in tags and sentences, with their minus sign."""

from __future__ import annotations

from bokeh.models.widgets.tables import HTMLTemplateFormatter

#: Of the value that a browser has at hand; the sign is that of the number as it is written.
_TEMPLATE = """<%= (() => {
  if (!Number.isFinite(value)) return "–"
  const shape = {minimumFractionDigits: DECIMALS, maximumFractionDigits: DECIMALS}
  const text = Math.abs(value).toLocaleString("en-US", shape)
  const sign = !/[1-9]/.test(text) ? "" : value < 0 ? "−" : SIGNED ? "+" : ""
  return sign + text
})() %>"""


def number_format(decimals: int = 0, *, sign: bool = False) -> HTMLTemplateFormatter:
    """A format of one page: digits in groups of three, a dash for what is no number.

    Parameters
    ----------
    decimals : int
        Digits after the point.
    sign : bool
        Whether a difference above 0 has a plus.
    """
    text = _TEMPLATE.replace("DECIMALS", str(decimals))
    return HTMLTemplateFormatter(template=text.replace("SIGNED", "true" if sign else "false"))
