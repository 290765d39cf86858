"""The bar: badge and links, as far as there is room and somewhere to go."""

from explorer.app.kit.navigation import header
from explorer.app.pages import PAGES

LINKS = PAGES


def test_links_lead_to_every_page_and_mark_the_present_one() -> None:
    badge, links = (pane.object for pane in header("compare", LINKS, False, "Exact counts"))
    assert "Exact counts" in badge
    for page in LINKS:
        assert f'href="./{page.address}"' in links
        assert f">{page.title}</a>" in links
    assert links.count("aria-current") == 1
    assert 'aria-current="page">Compare' in links


def test_a_phone_has_links_to_the_others_only_and_a_lone_page_none() -> None:
    (links,) = (pane.object for pane in header("compare", LINKS, True, "Exact counts"))
    assert ">Compare<" not in links
    assert ">Explore<" in links
    assert header("explore", (), True, "Exact counts") == []
    assert len(header("explore", (), False, "Exact counts")) == 1
    assert header("explore", (), False) == []
