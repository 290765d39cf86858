"""What is made and written quickly is what Bokeh and Panel make and write by themselves."""

import json
import re
from contextlib import AbstractContextManager
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import panel as pn
import param
import pytest
from bokeh.core.has_props import HasProps
from bokeh.core.properties import Dict, Instance, Int, List, Required, String
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.document import Document
from bokeh.models import (
    ColorBar,
    ColumnDataSource,
    CustomJS,
    GlyphRenderer,
    HoverTool,
    LinearColorMapper,
    Range1d,
)
from bokeh.plotting import figure

from explorer.app.kit import ui
from explorer.app.work import quick_messages, quick_models, quick_widgets


def _page() -> Document:
    document = Document()
    plot = figure(width=300, x_range=Range1d(0, 4), tools="pan,wheel_zoom", title="Map")
    source = ColumnDataSource({"x": [1, 2], "y": np.array([3.0, 4.0]), "name": ["a", "b"]})
    plot.scatter("x", "y", source=source, size=5, color="#aabbcc", legend_label="points")
    plot.rect(x=1, y=2, width=[1], height=2, fill_alpha=0.5, line_color=None)
    mapper = LinearColorMapper(palette=["#000000", "#ffffff"], low=0, high=1)
    plot.image([np.zeros((2, 2), np.uint8)], x=0, y=0, dw=1, dh=1, color_mapper=mapper)
    plot.add_layout(ColorBar(color_mapper=mapper), "right")
    plot.add_tools(HoverTool(tooltips=[("name", "@name")], renderers=[]))
    plot.js_on_event("tap", CustomJS(args={"plot": plot}, code="plot.title.text"))
    plot.xaxis.axis_label, plot.styles = "km", {"color": "red"}
    column = ui.wrapping(
        ui.FloatSlider(label="Epsilon", start=0, end=1, value=0.5, tags=["a"]),
        ui.Select(label="City", options={"One": 1, "Two": 2}, value=1),
        ui.Button(label="Go", on_click=lambda _event: None, stylesheets=["p {}"]),
        ui.Section("More", pn.pane.HTML("<p>text</p>", styles={"color": "red"})),
        pn.pane.Bokeh(plot),
        pn.widgets.Tabulator(selectable=True),
    )
    # As on a server.
    context = SimpleNamespace(id="a", server_context=object(), request=None, destroyed=False)
    document._session_context = lambda: context
    page = ui.Page(title="A page", main=[column], sidebar=[ui.TextInput(label="Name")])
    page.server_doc(document, location=False)
    return document


def _said(document: Document) -> str:
    """The document with its ids and names counted from 0."""
    # Definitions of widgets are told to Bokeh with the first of a class in a process.
    found = {**document.to_json().content, "defs": []}
    text = re.sub(
        r'"_defs": \[.*?\]', "", json.dumps(found, default=lambda each: repr(bytes(each.data)))
    )
    ids: dict[str, str] = {}
    counted = r"\bp\d+\b|\b[A-Z]\w+\d{5}\b"
    return re.sub(counted, lambda match: ids.setdefault(match[0], f"#{len(ids)}"), text)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    cures = {**quick_models.PLAIN, **quick_messages.PLAIN, **quick_widgets.PLAIN}
    for (owner, name), original in cures.items():
        monkeypatch.setattr(owner, name, original)


def test_a_page_is_the_same_as_without_them(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    _page()  # definitions are sent with the first
    quick = _page()
    request.getfixturevalue("plain")
    slow = _page()
    assert _said(quick) == _said(slow)
    assert len(_said(quick)) > 20_000
    # Each finds the same models, in the same order.
    names = [type(each).__name__ for root in quick.roots for each in root.references()]
    assert sorted(names) == sorted(
        type(each).__name__ for root in slow.roots for each in root.references()
    )
    monkeypatch.undo()


# As if they were Bokeh's own: no page looks for scripts of theirs.
class Part(HasProps):
    __view_module__ = "bokeh"
    count = Int(default=1)


class Whole(HasProps):
    __view_module__ = "bokeh"
    name = Required(String)
    part = Instance(Part, default=lambda: Part(count=2))
    tags = List(String)
    named = Dict(String, Int, default={"a": 1})


def test_defaults_belong_to_each_model_alone() -> None:
    one, other = Whole(name="one"), Whole(name="other")
    one.tags.append("here")
    one.named["b"] = 2
    assert (other.tags, other.named) == ([], {"a": 1})
    assert one.part is not other.part
    assert one.part.count == 2
    sent = one.properties_with_values(include_defaults=False)
    assert {key: sent[key] for key in ("name", "tags", "named")} == {
        "name": "one",
        "tags": ["here"],
        "named": {"a": 1, "b": 2},
    }
    assert set(other.properties_with_values(include_defaults=False)) == {"name", "part"}


def test_what_must_be_given_is_missed() -> None:
    with pytest.raises(UnsetValueError, match="name"):
        Whole().properties_with_values(include_defaults=False)


def test_a_wrong_first_value_is_refused() -> None:
    with pytest.raises(ValueError, match="count"):
        Part(count="many")
    with pytest.raises(AttributeError, match="counts"):
        Part(counts=1)


def test_a_change_after_the_beginning_is_told() -> None:
    heard: list[tuple[str, int, int]] = []
    source = ColumnDataSource({"x": [1]})
    shown = GlyphRenderer(data_source=source, glyph=figure().scatter([1], [1]).glyph)
    source.on_change("name", lambda attr, old, new: heard.append((attr, old, new)))
    source.name = "new"
    assert heard == [("name", None, "new")]
    other = ColumnDataSource({"x": [2]})
    shown.data_source = other
    assert other in shown.references()
    assert source not in shown.references()


class Locked(param.Parameterized):
    read = param.Number(1, readonly=True)
    fixed = param.Number(1, constant=True)
    free = param.Number(1)


@pytest.mark.parametrize("which", ["ours", "Panel's"])
def test_what_is_locked_can_be_set_meanwhile_and_is_locked_again(which: str) -> None:
    module = import_module("panel.io.state")
    plain = quick_widgets.PLAIN[module, "edit_readonly"]
    edit, one = module.edit_readonly if which == "ours" else plain, Locked()

    def locks() -> list[tuple[bool, bool]]:
        found = one.param.objects("existing").values()
        return [(each.readonly, each.constant) for each in found]

    # From now on it has parameters of its own, as an object has that is watched.
    assert all(one.param[name] for name in ("read", "fixed", "free"))
    before = locks()
    assert (True, True) in before
    assert (False, True) in before
    with edit(one):
        assert {*locks()} == {(False, False)}
        one.read, one.fixed, one.free = 2, 3, 4
    assert (one.read, one.fixed, one.free) == (2, 3, 4)
    assert locks() == before
    with pytest.raises(RuntimeError, match="wrong"):
        _fail_in(edit(one))
    assert locks() == before


def _fail_in(context: AbstractContextManager[None]) -> None:
    with context:
        raise RuntimeError("wrong")
