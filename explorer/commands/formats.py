"""Figures as programs read them, CSV and JSON, next to the lines that people read."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Mapping
from typing import Any

FORMATS = ("table", "csv", "json")


def add_format(parser: argparse._ActionsContainer) -> None:
    """Declare the form in which figures are printed."""
    parser.add_argument(
        "--format", choices=FORMATS, default="table", help="of what is printed (default table)"
    )


def records(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Columns of one length as a record for each row, with None for what is no number.

    >>> records({"name": ["Q1", "Q2"], "value": [1.5, float("nan")]})
    [{'name': 'Q1', 'value': 1.5}, {'name': 'Q2', 'value': None}]
    """
    from explorer.queries.geojson import finite

    plain = [
        column.tolist() if hasattr(column, "tolist") else column for column in columns.values()
    ]
    rows = zip(*plain, strict=True)
    return [dict(zip(columns, map(finite, row), strict=True)) for row in rows]


def as_text(columns: Mapping[str, Any], form: str) -> str:
    """Columns of one length as CSV, or as a JSON list of records.

    Text that a spreadsheet would run as a formula gets an apostrophe in CSV.

    >>> print(as_text({"name": ["=1", "Q2"], "value": [1, 2.5]}, "csv"), end="")
    name,value
    '=1,1
    Q2,2.5
    """
    if form == "json":
        return as_json(records(columns))
    from explorer.queries.files import no_formula

    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(no_formula, columns))
    writer.writerows(map(no_formula, row.values()) for row in records(columns))
    return text.getvalue()


def as_json(value: Any) -> str:
    """Lists and dicts of plain values as lines of JSON, ending with a newline."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
