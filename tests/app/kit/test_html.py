"""Small panes: replaced only when the text is another one."""

from typing import Any

import panel as pn
from bokeh.document import Document

from explorer.app.kit.html import html_pane, put, section


def test_the_same_text_is_not_sent_again() -> None:
    pane, changes = html_pane("<p>a</p>"), []
    pane.param.watch(changes.append, "object")
    put(pane, "<p>a</p>")
    assert not changes
    put(pane, "<p>b</p>")
    assert (len(changes), pane.object) == (1, "<p>b</p>")


def test_a_section_is_a_heading_with_words() -> None:
    assert section("Boxes", "Words.").object == "<h2>Boxes</h2><p>Words.</p>"


def test_another_text_is_what_panel_would_send_and_nothing_else_is_sent() -> None:
    text = "<p>5 &lt; 7 & <b>\u2212</b></p>"
    document, pane = Document(), html_pane("<p>a</p>")
    document.add_root(pane.get_root(document))
    plain = pn.pane.HTML(text).get_root(Document())
    events: list[Any] = []
    document.on_change(events.append)
    put(pane, text)
    assert [(each.attr, each.new) for each in events] == [("text", plain.text)]
