"""A scenario as a notebook: the numbers step by step, then the screen itself to play with."""

from __future__ import annotations

import json
import pprint
import re
from typing import Any

from explorer.scenario import area_code, code, people_code
from explorer.scenario.kinds import AREAS, PEOPLE
from explorer.scenario.model import Scenario

#: What begins markup, a link, code or a formula in a cell of text.
_MARKUP = re.compile(r"[\\<>\[\]`$]")


def to_notebook(scenario: Scenario) -> str:
    """The notebook as JSON (nbformat 4.5), without output; the same text every time."""
    words = f"# {_plain(code.heading(scenario))}"
    if scenario.about:
        words += f"\n\n{_plain(scenario.about)}"
    if scenario.seed is None:
        words += (
            "\n\nEach run draws a release anew and books its epsilon. The noise of the release "
            "that was on the screen is in no file but its own."
        )
    cells = [
        ("markdown", words),
        ("code", f"import pandas as pd\n\n{code.imports(scenario)}\n\n{code.load(scenario)}"),
        ("code", f"{code.draw(scenario)}\n{code.releases(scenario)[0]}"),
        ("code", "\n".join([code.ask(scenario), *_table(scenario)])),
        *([("code", area_code.table())] if scenario.kind is AREAS else []),
        *([("code", people_code.table())] if scenario.kind is PEOPLE else []),
        ("markdown", "## The screen\n\nDrag a box on a map, slide epsilon."),
        ("code", _screen(scenario)),
    ]
    notebook = {
        "cells": [_cell(number, *cell) for number, cell in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _table(scenario: Scenario) -> list[str]:
    """Lines that tell of the chosen area, and end in a table of the boxes."""
    lines_of_area = area_code.tell() if scenario.kind is AREAS else []
    if not code.asks(scenario):
        return lines_of_area
    lines = []
    for letter, name in zip(("A", "B"), code.answers(scenario), strict=False):
        label = f"private {letter}" if len(scenario.mechanisms) > 1 else "private"
        noise = f"noise {letter}" if len(scenario.mechanisms) > 1 else "noise"
        lines += [f'        "{label}": {name}.value,', f'        "{noise}": {name}.sd,']
    body = "\n".join(['        "true": true,', *lines])
    return [*lines_of_area, f"pd.DataFrame(\n    {{\n{body}\n    }},\n    index=names,\n).round(1)"]


def _screen(scenario: Scenario) -> str:
    if scenario.page == "learn":
        lesson = f", lesson={code.literal(scenario.lesson)}" if scenario.lesson else ""
        if scenario.lesson_step:
            lesson += f", lesson_step={scenario.lesson_step}"
        # Learn has no grid finer than that.
        side = f", side={scenario.side}" if scenario.side <= 1024 else ""
        call = f"Learn({code.literal(scenario.city)}{lesson}{side})"
        return f"from explorer.app import Learn\n\n{call}"
    page = scenario.page.capitalize()
    if scenario.kind in (AREAS, PEOPLE):
        # Page and mechanism have one name: the cells above would find the page.
        return _shown(scenario, "import explorer.app", f"explorer.app.{page}")
    return _shown(scenario, f"from explorer.app import {page}", page)


def _shown(scenario: Scenario, imported: str, page: str) -> str:
    plain = pprint.pformat(scenario.to_dict(), width=88, sort_dicts=False)
    return (
        f"{imported}\nfrom explorer.scenario import Scenario\n\n"
        f"scenario = Scenario.from_dict(\n{_indented(plain)}\n)\n{page}(scenario=scenario)"
    )


def _plain(text: str) -> str:
    """Markdown that shows a text as it is: titles of cities and screens come from files."""
    return _MARKUP.sub(r"\\\g<0>", text)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _cell(number: int, kind: str, source: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number:02}", "metadata": {}}
    cell["source"] = source.splitlines(keepends=True)
    return {**cell, "execution_count": None, "outputs": []} if kind == "code" else cell
