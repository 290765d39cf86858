"""The report and the picture: what they say, and that they load and run nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

from explorer.publish.published import Boxes
from explorer.publish.report import POLICY, report
from tests.publish.folders import ABOUT, BOXES, drawn, published

EVIL = '<script>alert(1)</script><img src=x onerror="alert(2)">{0}%s&#60;'


class Read(HTMLParser):
    """Tags with their attributes, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_report_says_what_a_reader_needs() -> None:
    said = Read(report(published()))
    text = " ".join(said.text.split())
    release = drawn()
    for words in (
        "Rides of Amber",
        "City of Amber, Port Amber, 2026-11-25",
        "One record is one ride that begins",
        "at most 2.72 times as likely",
        "may be 73.1 % sure",
        "amber riders",
        "It was agreed with those who ride.",
        "Other releases of the same people",
        "Facts about groups",
        "SP 800-226",
        "Licence: CC BY 4.0.",
        "pure differential privacy",
    ):
        assert words in text, words
    for row in release.ledger:
        assert row.stage in text
    low, high = release.answer(BOXES.asked).interval()
    for name, a, b in zip(BOXES.names, low, high, strict=True):
        assert name in text
        assert f"{a:,.0f} to {b:,.0f}" in text


def test_a_report_asks_for_nothing_and_runs_nothing() -> None:
    said = Read(report(published()))
    tags = {tag for tag, _ in said.tags}
    assert not tags & {"script", "link", "iframe", "object", "embed", "form", "base", "audio"}
    policies = [
        a["content"] for t, a in said.tags if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == [POLICY]
    assert POLICY.startswith("default-src 'none'")
    for tag, attributes in said.tags:
        assert not [name for name in attributes if name.startswith("on")], tag
        for name in ("src", "href", "action", "poster", "srcset"):
            assert (attributes.get(name) or "data:image/png").startswith("data:image/png"), tag
        assert "style" not in attributes or tag == "svg"
    style = re.search("<style>(.*?)</style>", report(published()), re.DOTALL).group(1)
    assert "url(" not in style
    assert "@import" not in style


def test_what_a_person_typed_is_text_everywhere() -> None:
    about = replace(
        ABOUT, title=EVIL, curator=EVIL, region=EVIL, use=EVIL, record=EVIL, why=EVIL, licence=EVIL
    )
    boxes = Boxes(BOXES.asked, [EVIL, "=cmd()"])
    plain, evil = Read(report(published())), Read(report(published(about=about, boxes=boxes)))
    # A longer caption has more lines.
    written, wanted = ([t for t, _ in each.tags if t != "text"] for each in (evil, plain))
    assert written == wanted
    assert not [name for _, attributes in evil.tags for name in attributes if name.startswith("on")]
