"""The bar: badge and links, as far as there is room and somewhere to go."""

from explorer.app.kit.labels import CURATOR
from explorer.app.kit.navigation import PAGES, header


def test_links_lead_to_every_page_and_mark_the_present_one() -> None:
    badge, links = (pane.object for pane in header("Compare", links=True, phone=False))
    assert CURATOR.capitalize() in badge
    for title, address in PAGES.items():
        assert f'href="./{address}"' in links
        assert f">{title}</a>" in links
    assert links.count("aria-current") == 1
    assert 'aria-current="page">Compare' in links


def test_a_phone_has_links_to_the_others_only_and_a_lone_page_none() -> None:
    (links,) = (pane.object for pane in header("Compare", links=True, phone=True))
    assert ">Compare<" not in links
    assert ">Explore<" in links
    assert header("Explore", links=False, phone=True) == []
    assert len(header("Explore", links=False, phone=False)) == 1
