"""Values that no widget would send: each is a visible sentence, and the server goes on.

They are set on the models behind the widgets, which is what a hand-made websocket client does:
the message to the server is the same.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch, leave, open_page
from tests.browser.visit import figure, number, rows, stays, unfold, wait_until


@pytest.fixture
def page(seen: Page) -> Page:
    """One visit for all: whatever it is sent, it goes on."""
    unfold(seen, "Settings of HTF", "View", "Grid and own points")
    return seen


SEND = """([label, name, value]) => {
  const special = {nan: NaN, inf: Infinity}
  for (const model of Bokeh.documents[0]._all_models.values())
    if (model.data && model.data.label === label) {
      model.data.setv({[name]: typeof value === "string" && value in special
        ? special[value] : value})
      return true
    }
  return false
}"""


def send(page: Page, label: str, value: object, name: str = "value") -> None:
    # What stands in a section comes a moment after it was opened.
    wait_until(page, lambda: page.evaluate(SEND, [label, name, value]))


def refuse(page: Page) -> None:
    """Read what was refused and put it away, so that the next refusal is a new one."""
    alert = page.get_by_role("alert")
    expect(alert).to_be_visible()
    assert len(alert.inner_text()) < 200
    page.get_by_role("button", name="Close", exact=True).click()
    expect(alert).to_have_count(0)


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("T", [0, -5, 10**9]),
        ("Height", [30, -1, 10**9]),
        ("Stop count", [-1, 1e300, "nan", "inf"]),
        ("Epsilon", [99, -99, "nan", "inf", 1e308]),
    ],
)
def test_a_slider_beyond_its_bounds(page, label, values) -> None:
    before = figure(page, "Leaves"), figure(page, "Epsilon")
    for value in values:
        send(page, label, value)
        refuse(page)
    assert (figure(page, "Leaves"), figure(page, "Epsilon")) == before
    # And the slider still works.
    page.get_by_role("slider", name=label, exact=True).press("ArrowRight")
    wait_until(page, lambda: (figure(page, "Leaves"), figure(page, "Epsilon")) != before)


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("City", "atlantis"),
        ("Grid", "16384 × 16384 cells"),
        ("Mechanism", "<b>x</b>"),
        ("Right map", "truth"),
        ("Exact epsilon", "9" * 5000),
    ],
)
def test_a_choice_that_does_not_exist(page, label, value) -> None:
    before = page.locator(".summary").inner_text()
    send(page, label, value)
    refuse(page)
    assert page.locator(".summary").inner_text() == before


def test_a_value_of_another_kind_is_refused_by_the_protocol(browser, server) -> None:
    # Bokeh refuses these itself, before our code sees them: nothing changes, the page goes on.
    logged, seen = len(server.log), len(Watch.all)
    page, _watch = open_page(browser, server)
    try:
        unfold(page, "Settings of HTF", "View")
        before = page.locator(".summary").inner_text()
        for label, value in [("T", 2.5), ("T", "abc"), ("T", None), ("Show partition", "yes")]:
            send(page, label, value)
        assert stays(page, page.locator(".summary").inner_text)
        assert page.locator(".summary").inner_text() == before
        page.get_by_role("slider", name="Epsilon", exact=True).press("ArrowRight")
        wait_until(page, lambda: page.locator(".summary").inner_text() != before)
        # What was sent is not in the log, see `explorer.app.work.limits`.
        said = "".join(server.log[logged:])
        assert "failed to validate" not in said
        assert "abc" not in said
    finally:
        leave(page)
        # The visit of the other tests goes on, and none of this is its trouble.
        del server.log[logged:]
        del Watch.all[seen:]


def test_cells_and_rows_that_do_not_exist(page) -> None:
    before = rows(page)
    for message in (
        {"kind": "edit", "row": 10**9, "column": "west km", "value": 1},
        {"kind": "edit", "row": 0, "column": "west km", "value": {"far": []}},
        {"kind": "edit", "row": 0, "column": "true", "value": 5},
        {"kind": "delete", "row": -1},
        {"kind": "select", "rows": ["x"]},
        {"kind": "no such"},
        "text",
        None,
    ):
        page.evaluate(
            """message => {
              for (const view of Bokeh.index.all_views())
                if (view.model.class_name === "Table") view.model_proxy.send_msg(message)
            }""",
            message,
        )
        refuse(page)
        assert rows(page) == before


def test_a_view_beyond_everything_shows_the_whole_map(page) -> None:
    for start, end in ((-1e300, 1e300), ("nan", "nan"), (5, 5), (9e9, 9.1e9)):
        page.evaluate(
            """([start, end]) => {
              for (const model of Bokeh.documents[0]._all_models.values())
                if (model.type === "Range1d") model.setv(
                  {start: start === "nan" ? NaN : start, end: end === "nan" ? NaN : end})
            }""",
            [start, end],
        )
        page.wait_for_timeout(150)
    page.get_by_role("slider", name="T", exact=True).press("ArrowRight")
    page.get_by_role("button", name="Whole map").click()
    wait_until(page, lambda: number(figure(page, "Leaves")) > 1)
